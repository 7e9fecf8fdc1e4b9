"""The table as a piece of Markdown, to be included in a page of documentation."""

from fsm.graph import Graph
from states.names import State

from .legend import legend
from .marks import PLAIN, Marks
from .mermaid import mermaid


def markdown(graph: Graph, marks: Marks = PLAIN, part: State | None = None) -> str:
    """A Mermaid block and the legend of its numbers. No heading: the page that includes it has one."""
    return f"```mermaid\n{mermaid(graph, marks, part)}```\n\n{legend(graph, marks, part)}"
