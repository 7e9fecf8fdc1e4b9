"""The SVG as a PNG, through resvg (extra `diagrams`)."""

from fsm.graph import Graph
from states.errors import ConfigError
from states.names import State

from .marks import PLAIN, Marks
from .svg import svg
from .theme import Theme


def png(graph: Graph, marks: Marks = PLAIN, part: State | None = None, *, dark: bool = False, zoom: float = 2) -> bytes:
    """The picture of `svg` as PNG, `zoom` times as large. Its letters are this machine's, so its bytes may differ.

    Raises ConfigError without the extra.
    """
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise ConfigError(
            "PNG needs the extra `diagrams`: pip install 'interlock[diagrams]' (SVG needs none)"
        ) from error
    return bytes(svg_to_bytes(svg_string=svg(graph, marks, part, theme=Theme.DARK if dark else Theme.LIGHT), zoom=zoom))
