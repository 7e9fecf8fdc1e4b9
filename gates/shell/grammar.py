"""Shell text to a syntax tree. tree-sitter's grammar of bash is loaded when the first text is parsed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from .unclear import Unclear

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST: Final = 20_000
"""Characters of a text that is read (our choice: no check needs more)."""


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(text: str) -> Node:
    """The tree of a whole text. Raises Unclear where bash and the grammar might not agree on what it says."""
    if len(text) > LONGEST:
        raise Unclear(f"it is longer than {LONGEST} characters")
    for character in text:
        if (character.isspace() or not character.isprintable()) and character not in " \t\n":
            raise Unclear(f"it contains the character {character!a}")
    root = _parser().parse(_joined(text).encode("utf-8", "surrogatepass")).root_node
    if root.has_error:
        raise Unclear("it is no shell text that can be read with certainty")
    return root


def _joined(text: str) -> str:
    """Lines that a backslash continues become one, as bash does it before it looks for words."""
    if "\\\n" not in text:
        return text
    if any(mark in text for mark in ("'", "#", "<<", "\\\\")):  # where a backslash may be just a backslash
        raise Unclear("a line is continued where that may mean something else")
    return text.replace("\\\n", "")
