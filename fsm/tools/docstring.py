"""What a docstring says about a tool and its parameters, in Google, NumPy, reST or Epydoc style."""

import inspect
import re
from collections.abc import Callable
from typing import Final

import attrs
from docstring_parser import ParseError, parse

_LAID_OUT: Final = re.compile(r"^(\s|[-*+] |\d+[.)] )", re.MULTILINE)
"""A line that begins like this is part of a list or an example: its paragraph keeps its lines."""


@attrs.frozen
class Said:
    """`description` is everything but the sections; `parameters` are descriptions by name, each on one line."""

    description: str
    parameters: dict[str, str]


def said_by(documented: Callable[..., object] | type) -> Said:
    """An unreadable docstring is a description as a whole."""
    text = inspect.getdoc(documented) or ""
    try:
        parsed = parse(text)
    except ParseError:
        return Said(_unwrapped(text), {})
    parameters = {
        parameter.arg_name.lstrip("*"): " ".join((parameter.description or "").split()) for parameter in parsed.params
    }
    return Said(_unwrapped(parsed.description or ""), parameters)


def _unwrapped(text: str) -> str:
    """Paragraphs, each on one line unless its lines mean something."""
    paragraphs = (part.strip("\n") for part in re.split(r"\n\s*\n", text.strip()))
    return "\n\n".join(part if _LAID_OUT.search(part) else " ".join(part.split()) for part in paragraphs)
