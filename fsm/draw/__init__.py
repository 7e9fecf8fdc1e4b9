"""Draws any table, as Mermaid, DOT, SVG, PNG, Markdown and lines of text. Nothing is run: the rows are the picture.

The same table gives the same bytes, on every machine.
"""

from .difference import difference
from .dot import dot
from .legend import legend
from .markdown import markdown
from .marks import Marks
from .mermaid import mermaid
from .png import png
from .session import session_marks, session_path
from .svg import svg
from .terminal import terminal
from .theme import Theme

__all__ = [
    "Marks",
    "Theme",
    "difference",
    "dot",
    "legend",
    "markdown",
    "mermaid",
    "png",
    "session_marks",
    "session_path",
    "svg",
    "terminal",
]
