"""interlock check: proves a table, without running anything."""

import click


@click.command()
@click.argument("graph", required=False, metavar="[MODULE:GRAPH]")
def check(graph: str | None) -> int:
    """Prove that a table keeps its promises: by default the built-in one.

    Every state is reachable and leads to an end, no row is shadowed, and no way to success leads around a gate; then
    everything that a run can do under it is searched, in a world that lies. Exit status 1 if something is found.
    """
    from fsm.checks.proof import cli_check
    from fsm.graph import GRAPH

    from .find_graph import find_graph
    from .terminal import out

    table = find_graph(graph) if graph else GRAPH
    status, text = cli_check(table, graph or "the built-in table")
    out(text)
    return status
