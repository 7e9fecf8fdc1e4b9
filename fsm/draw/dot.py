"""The table as DOT, for Graphviz and what reads its language."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from fsm.graph import Graph
from states.names import State

from .cards import ASIDE_STATES
from .checklist import checklists
from .marks import PLAIN, Marks
from .mermaid import beside, label, safe
from .picture import Edge, Kind, Node, Picture, Way, numbers, picture

STYLES: Final = {
    Way.ONWARD: "style=solid",
    Way.RETRY: "style=dashed",
    Way.SUSPEND: "style=dotted, arrowhead=odot",
    Way.FAIL: "style=solid, penwidth=0.5, arrowhead=tee",
}
SHAPES: Final = {
    Kind.INITIAL: "shape=box, style=bold",
    Kind.RUNNING: "shape=box",
    Kind.REST: "shape=box, style=dotted",
    Kind.END: "shape=box, peripheries=2",
}


def dot(graph: Graph, marks: Marks = PLAIN, part: State | None = None) -> str:
    """The table as DOT text. Edges with rows that stand out are bold. part: one state and its rows.

    The states that run stand one under another, in the order of the happy path; only the steps down shape the layout.
    """
    drawn = picture(graph, part)
    spine = [node.state for node in drawn.nodes if node.state not in ASIDE_STATES]
    notes = [
        f'  anywhere -> {note.target} [label="{words}", {STYLES[note.way]}, constraint=false];'
        for note in drawn.anywhere
        for words in [safe(f"{note.event} {numbers(note.rows, marks)}")]
    ]
    return "\n".join(
        (
            "digraph loop {",
            '  graph [rankdir=TB, nodesep=0.6, bgcolor="transparent"];',
            '  node [fontname="monospace"];',
            '  edge [fontname="monospace", fontsize=10];',
            *(f"  {_node(drawn, node, marks)}" for node in drawn.nodes),
            *(f"  {above} -> {below} [style=invis, weight=100];" for above, below in pairwise(spine)),
            *(f"  {_edge(edge, marks, spine)}" for edge in drawn.edges),
            *(['  anywhere [label="every running state", shape=plaintext];'] if notes else []),
            *notes,
            *(f"  {{ rank=same; {level}; {state}; }}" for state, level in _ranks(drawn, spine)),
            "}",
            "",
        )
    )


def _ranks(drawn: Picture, spine: Sequence[State]) -> list[tuple[State, State]]:
    """What rests stands beside the middle of what runs, what failed beside its end."""
    places = {State.SUSPENDED: len(spine) // 2, State.FAILED: len(spine) - 1}
    return [(node.state, spine[places[node.state]]) for node in drawn.nodes if node.state in places and spine]


def _node(drawn: Picture, node: Node, marks: Marks) -> str:
    lines = [
        safe(f"{line.name}  {numbers(line.rows, marks)}")
        for checklist in checklists(drawn, node.state)
        for line in checklist.lines
    ]
    heads = (node.state, *beside(node.state, marks))
    words = "".join((*(f"{word}\\n" for word in heads), *(f"{line}\\l" for line in lines)))
    look = f"{SHAPES[node.kind]}, penwidth=3" if node.state is marks.here else SHAPES[node.kind]
    return f'{node.state} [label="{words}", {look}];'


def _edge(edge: Edge, marks: Marks, spine: Sequence[State]) -> str:
    strikes = any(numbered.number in marks.striking for numbered in edge.rows)
    style = "style=bold, penwidth=3" if strikes else STYLES[edge.way]
    free = "" if (edge.source, edge.target) in set(pairwise(spine)) else ", constraint=false"
    return f'{edge.source} -> {edge.target} [label="{label(edge, marks)}", {style}{free}];'
