"""The table as DOT, for Graphviz and what reads its language."""

from typing import Final

from fsm.graph import Graph

from .checklist import Asks, checklists
from .mermaid import label, safe
from .picture import Edge, Kind, Node, Picture, Way, numbers, picture

STYLES: Final = {
    Way.ONWARD: "style=solid",
    Way.RETRY: "style=dashed, constraint=false",
    Way.SUSPEND: "style=dotted, arrowhead=odot",
    Way.FAIL: "style=solid, penwidth=0.5, arrowhead=tee",
}
SHAPES: Final = {
    Kind.INITIAL: "shape=box, style=bold",
    Kind.RUNNING: "shape=box",
    Kind.REST: "shape=box, style=dotted",
    Kind.END: "shape=box, peripheries=2",
}


def dot(graph: Graph, taken: frozenset[int] = frozenset()) -> str:
    """The table as DOT text. `taken`: numbers of rows that a session took; their edges are bold."""
    drawn = picture(graph)
    notes = [
        f'  anywhere -> {note.target} [label="{safe(f"{note.event} {numbers(note.rows)}")}", {STYLES[note.way]}];'
        for note in drawn.anywhere
    ]
    return "\n".join(
        (
            "digraph loop {",
            '  graph [rankdir=TB, bgcolor="transparent"];',
            '  node [fontname="monospace"];',
            '  edge [fontname="monospace", fontsize=10];',
            *(f"  {_node(drawn, node)}" for node in drawn.nodes),
            *(f"  {_edge(edge, taken)}" for edge in drawn.edges),
            *(['  anywhere [label="every running state", shape=plaintext];'] if notes else []),
            *notes,
            "}",
            "",
        )
    )


def _node(drawn: Picture, node: Node) -> str:
    names = [
        safe(line.name)
        for checklist in checklists(drawn, node.state)
        for line in checklist.lines
        if line.asks is not Asks.SUM
    ]
    words = "".join((f"{node.state}\\n", *(f"{name}\\l" for name in names)))
    return f'{node.state} [label="{words}", {SHAPES[node.kind]}];'


def _edge(edge: Edge, taken: frozenset[int]) -> str:
    took = any(numbered.number in taken for numbered in edge.rows)
    style = "style=bold, penwidth=3" if took else STYLES[edge.way]
    return f'{edge.source} -> {edge.target} [label="{label(edge)}", {style}];'
