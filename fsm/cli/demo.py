"""interlock demo: a recorded model, and everything else real."""

import click


@click.command()
@click.option("--into", metavar="DIR", help="Where to put the repository: a new or empty folder.  [default: a new one]")
@click.option("--crash", is_flag=True, help="Kill the process with SIGKILL in the middle of an answer, then resume.")
def demo(into: str | None, crash: bool) -> int:
    """Watch a run from its task to its receipt. Needs no key and no network.

    The model's turns are recorded; the repository, its tests, the tools, the journal and the gates are real.
    """
    from .show_demo import show_demo

    return show_demo(into, crash=crash)
