"""The table as a Mermaid flowchart, in the colours of the page that shows it."""

import re
from typing import Final

from fsm.graph import Graph

from .checklist import Asks, checklists
from .picture import Anywhere, Edge, Kind, Node, Picture, Way, numbers, picture

ARROWS: Final = {Way.ONWARD: "-->", Way.RETRY: "-.->", Way.SUSPEND: "-.-o", Way.FAIL: "--x"}
TOOK: Final = "==>"
SHAPES: Final = {
    Kind.INITIAL: ('["', '"]'),
    Kind.RUNNING: ('["', '"]'),
    Kind.REST: ('(["', '"])'),
    Kind.END: ('[["', '"]]'),
}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_ ,]")


def mermaid(graph: Graph, taken: frozenset[int] = frozenset()) -> str:
    """The table as Mermaid 11 text. `taken`: numbers of rows that a session took; their edges are thick."""
    drawn = picture(graph)
    return "\n".join(
        (
            "flowchart TB",
            *(f"    {_node(drawn, node)}" for node in drawn.nodes),
            *(f"    {_edge(edge, taken)}" for edge in drawn.edges),
            *(f"    {line}" for line in _anywhere(drawn.anywhere)),
            "",
        )
    )


def safe(words: str) -> str:
    """Only what no Mermaid or DOT label can trip over; anything else becomes an underscore."""
    return _UNSAFE.sub("_", words)


def label(edge: Edge) -> str:
    """Row numbers, and the event of an edge that leads onward: the arrow says what the others are."""
    events = [event for event, _ in edge.events] if edge.way is Way.ONWARD else []
    return safe(" ".join((*events, numbers(edge.rows))))


def _node(drawn: Picture, node: Node) -> str:
    """A state with the gates and facts that its rows ask, in order."""
    names = [
        f"<i>{safe(line.name)}</i>" if line.asks is Asks.FACT else safe(line.name)
        for checklist in checklists(drawn, node.state)
        for line in checklist.lines
        if line.asks is not Asks.SUM
    ]
    before, after = SHAPES[node.kind]
    return f"{node.state}{before}{'<br/>'.join((f'<b>{node.state}</b>', *names))}{after}"


def _edge(edge: Edge, taken: frozenset[int]) -> str:
    took = any(numbered.number in taken for numbered in edge.rows)
    return f"{edge.source} {TOOK if took else ARROWS[edge.way]}|{label(edge)}| {edge.target}"


def _anywhere(notes: tuple[Anywhere, ...]) -> list[str]:
    if not notes:
        return []
    return [
        'anywhere("every running state")',
        *(f"anywhere {ARROWS[note.way]}|{safe(f'{note.event} {numbers(note.rows)}')}| {note.target}" for note in notes),
    ]
