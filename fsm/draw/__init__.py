"""Draws any table, as Mermaid, DOT, SVG and PNG. Nothing is run for it: the rows are the picture.

The same table gives the same bytes, on every machine.
"""

from .dot import dot
from .legend import legend
from .mermaid import mermaid
from .png import png
from .session import session_path
from .svg import svg

__all__ = ["dot", "legend", "mermaid", "png", "session_path", "svg"]
