"""The table as a Mermaid flowchart, in the colours of the page that shows it."""

import re
from typing import Final

from fsm.graph import Graph
from states.names import State

from .checklist import Asks, checklists
from .marks import PLAIN, Marks
from .picture import Anywhere, Edge, Kind, Node, Picture, Way, numbers, picture

ARROWS: Final = {Way.ONWARD: "-->", Way.RETRY: "-.->", Way.SUSPEND: "-.-o", Way.FAIL: "--x"}
TOOK: Final = "==>"
SHAPES: Final = {
    Kind.INITIAL: ('["', '"]'),
    Kind.RUNNING: ('["', '"]'),
    Kind.REST: ('(["', '"])'),
    Kind.END: ('[["', '"]]'),
}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_ ,+−×.:]")


def mermaid(graph: Graph, marks: Marks = PLAIN, part: State | None = None) -> str:
    """The table as Mermaid 11 text. Edges with rows that stand out are thick. part: one state and its rows."""
    drawn = picture(graph, part)
    return "\n".join(
        (
            "flowchart TB",
            *(f"    {_node(drawn, node, marks)}" for node in drawn.nodes),
            *(f"    {_edge(edge, marks)}" for edge in drawn.edges),
            *(f"    {line}" for line in _anywhere(drawn.anywhere, marks)),
            "",
        )
    )


def safe(words: str) -> str:
    """Only what no Mermaid or DOT label can trip over; anything else becomes an underscore."""
    return _UNSAFE.sub("_", words)


def label(edge: Edge, marks: Marks = PLAIN) -> str:
    """Row numbers, and the event of an edge that leads onward: the arrow says what the others are."""
    events = [event for event, _ in edge.events] if edge.way is Way.ONWARD else []
    times = sum(marks.taken.get(numbered.number, 0) for numbered in edge.rows)
    return safe(" ".join((*events, numbers(edge.rows, marks), *([f"×{times}"] if times > 1 else []))))


def beside(state: State, marks: Marks) -> list[str]:
    """What a session's picture says of a state, in its box."""
    words = [marks.spent[state]] if state in marks.spent else []
    return [safe(word) for word in (*words, *([marks.stands] if state is marks.here else []))]


def _node(drawn: Picture, node: Node, marks: Marks) -> str:
    """A state with the gates and facts that its rows ask, in order."""
    names = [
        f"<i>{safe(line.name)}</i>" if line.asks is Asks.FACT else safe(line.name)
        for checklist in checklists(drawn, node.state)
        for line in checklist.lines
        if line.asks is not Asks.SUM
    ]
    before, after = SHAPES[node.kind]
    lines = (f"<b>{node.state}</b>", *beside(node.state, marks), *names)
    return f"{node.state}{before}{'<br/>'.join(lines)}{after}"


def _edge(edge: Edge, marks: Marks) -> str:
    strikes = any(numbered.number in marks.striking for numbered in edge.rows)
    words = label(edge, marks)
    return f"{edge.source} {TOOK if strikes else ARROWS[edge.way]}|{_quoted(words, marks)}| {edge.target}"


def _quoted(words: str, marks: Marks) -> str:
    """Signs such as + and × are only safe within quotes."""
    return words if marks == PLAIN else f'"{words}"'


def _anywhere(notes: tuple[Anywhere, ...], marks: Marks) -> list[str]:
    if not notes:
        return []
    edges = ((note, safe(f"{note.event} {numbers(note.rows, marks)}")) for note in notes)
    return [
        'anywhere("every running state")',
        *(f"anywhere {ARROWS[note.way]}|{_quoted(words, marks)}| {note.target}" for note, words in edges),
    ]
