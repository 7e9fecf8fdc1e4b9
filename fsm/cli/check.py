"""interlock check: proves a table, or a loop, without pytest."""

import click


@click.command()
@click.argument("what", required=False, metavar="[MODULE:NAME]")
@click.option("--profile", type=click.Choice(("quick", "ci", "nightly")), help="Of a loop: how deep.  [default: quick]")
def check(what: str | None, profile: str | None) -> int:
    """Prove that a table keeps its promises: by default the built-in one.

    Every state is reachable and leads to an end, no row is shadowed, and no way to success leads around a gate; then
    everything that a run can do under it is searched, in a world that lies. Exit status 1 if something is found.

    MODULE:NAME is a table, a Loop, or a function that makes one of given parts; of a function, the loops that it makes
    are driven as well: simulated histories with faults, and from the profile ci on, every row, every commit killed, and
    power cuts.
    """
    from fsm.checks.proof import cli_check, cli_prove
    from fsm.graph import GRAPH
    from states.errors import ConfigError

    from .find_graph import find_loop
    from .terminal import out

    found = find_loop(what) if what else GRAPH
    if isinstance(found, tuple):
        if profile is not None:
            raise ConfigError("--profile is for a function that makes loops; a table is searched as a whole")
        status, text = cli_check(found, what or "the built-in table")
    else:
        status, text = cli_prove(found, what or "", profile or "quick")
    out(text)
    return status
