"""interlock check: proves a table, without running anything."""

import click


@click.command()
@click.argument("graph", required=False, metavar="[MODULE:GRAPH]")
def check(graph: str | None) -> int:
    """Prove that a table keeps its promises: by default the built-in one.

    Every state is reachable and leads to an end, no row is shadowed, and no way to success leads around a gate.
    Exit status 1 if something is found.
    """
    from fsm.checks.shape import check as find
    from fsm.graph import GRAPH

    from .find_graph import find_graph
    from .terminal import out

    table = find_graph(graph) if graph else GRAPH
    found = find(table)
    for complaint in found:
        out(str(complaint))
    if not found:
        out(f"{graph or 'the built-in table'}: {len(table)} rows, nothing to object to")
    return 1 if found else 0
