"""A word of a command as bash takes it: quotes and escapes taken away, patterns marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import attrs

from .unclear import Unclear
from .words import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PATTERN: Final = re.compile(r"[*?\[]")
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_IN_QUOTES: Final = re.compile(r'\\([$`"\\])')


@attrs.frozen
class Word:
    """`text` is what the program gets; with `glob` it stands for the names that fit it, of which there may be many."""

    text: str
    glob: bool = False


def word_of(node: Node) -> Word:
    """The word that `node` is. Raises Unclear for what only bash knows: expansions, substitutions, braces, homes."""
    if text_of(node).startswith("~"):
        raise Unclear(f"{text_of(node)} lies outside the workspace")
    return _word(node)


def _word(node: Node) -> Word:
    text = text_of(node)
    match node.type:
        case "word" | "number" | "file_descriptor" if not node.named_children:
            return _bare(text)
        case "$":
            return Word("$")
        case "raw_string":
            return Word(text[1:-1])
        case "string" if all(child.type in ('"', "string_content", "$") for child in node.children):
            return Word(_ESCAPED_IN_QUOTES.sub(r"\1", text[1:-1]))
        case "concatenation":
            parts = [_word(part) for part in node.children]
            if sum(len(text_of(part)) for part in node.children) != len(text):
                raise Unclear(f"{text} is not read")
            return Word("".join(part.text for part in parts), any(part.glob for part in parts))
    raise Unclear(f"{text} is not known before it runs")


def _bare(text: str) -> Word:
    plain = _ESCAPED.sub("", text)
    if "{" in plain or "}" in plain or "\\" in plain or "=~" in text or ":~" in text:
        raise Unclear(f"{text} stands for something else")
    return Word(_ESCAPED.sub(r"\1", text), bool(_PATTERN.search(plain)))
