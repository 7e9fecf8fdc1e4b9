"""The SVG as a PNG, through resvg (extra `diagrams`)."""

from fsm.graph import Graph
from states.errors import ConfigError

from .svg import one_scheme


def png(graph: Graph, taken: frozenset[int] = frozenset(), *, dark: bool = False, zoom: float = 2) -> bytes:
    """The table as PNG, `zoom` times as large as the SVG. Its letters are this machine's, so its bytes may differ.

    Raises ConfigError without the extra.
    """
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise ConfigError(
            "PNG needs the extra `diagrams`: pip install 'interlock[diagrams]' (SVG needs none)"
        ) from error
    return bytes(svg_to_bytes(svg_string=one_scheme(graph, taken, dark=dark), zoom=zoom))
