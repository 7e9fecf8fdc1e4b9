"""What `interlock check` says about a table: what can be read off it, then what a search of all that it does finds."""

from fsm.graph import Graph

from .broken import Broken


def cli_check(graph: Graph, name: str) -> tuple[int, str]:
    """Exit status (0: nothing to object to, 1: something is wrong) and the text for standard output.

    name: what the table is called in that text. The search starts only from a table that keeps its shape.
    """
    from . import explore, shape

    found = shape.check(graph)
    if found:
        return 1, "\n".join(str(finding) for finding in found)
    try:
        report = explore.check(graph)
    except Broken as error:
        return 1, str(error)
    return 0, f"{name}: {len(graph)} rows, nothing to object to; {report}"
