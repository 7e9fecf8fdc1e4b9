"""interlock replay-case: plays a failing history again that a check has written."""

from pathlib import Path

import click


@click.command("replay-case")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--loop", metavar="MODULE:NAME", help="A function that makes loops, instead of the one that the file names."
)
def replay_case(file: Path, loop: str | None) -> int:
    """Play the history in FILE again, step by step, on the loop that it names.

    Exit status 1 if a claim still breaks, with the story; 0 if none does.
    """
    from fsm.checks import case, simulate
    from states.errors import ConfigError

    from .find_graph import find_loop, look_here
    from .terminal import out

    made = case.read(file)
    look_here()
    maker = find_loop(loop) if loop else case.found(made.loop)
    if isinstance(maker, tuple):
        raise ConfigError(f"--loop: {loop!r} is a table; a function that makes loops is needed")
    broken = simulate.play(made, maker)
    out(str(broken) if broken else f"{len(made.steps)} steps, and nothing breaks: {made.claim} holds")
    return 1 if broken else 0
