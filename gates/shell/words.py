"""The words that bash makes of a syntax node, where they can be known without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .unclear import Unclear

if TYPE_CHECKING:
    from tree_sitter import Node

_GLOBS: Final = "*?["


def literal(node: Node) -> str:
    """The one word that `node` is. Raises Unclear for expansions, escapes, and patterns that could become an option."""
    word = _joined(node)
    bare = text_of(node)
    if bare[:1] in _GLOBS:
        raise Unclear(f"{bare} could stand for any name, also for an option's")
    if bare.startswith("~"):
        raise Unclear(f"{bare} lies outside the workspace")
    return word


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _joined(node: Node) -> str:
    text = text_of(node)
    match node.type:
        case "word" | "number" | "file_descriptor" if not node.named_children:
            if "\\" in text or "{" in text or "}" in text:
                raise Unclear(f"{text} is escaped or stands for several words")
            return text
        case "raw_string":
            return text[1:-1]
        case "string":
            if any(child.type != "string_content" for child in node.named_children) or "\\" in text:
                raise Unclear(f"{text} is not known before it runs")
            return text[1:-1]
        case "concatenation":
            if any("{" in text_of(part) for part in node.named_children if part.type == "word"):
                raise Unclear(f"{text} stands for several words")
            return "".join(_joined(part) for part in node.named_children)
    raise Unclear(f"{text} is not known before it runs")


def harmless_value(node: Node) -> None:
    """Check the value of a variable: text and other variables, but nothing that runs. Raises Unclear."""
    if node.type in ("command_substitution", "process_substitution", "array", "subscript", "arithmetic_expansion"):
        raise Unclear(f"{text_of(node)} runs something or is more than a word")
    for child in node.named_children:
        harmless_value(child)
