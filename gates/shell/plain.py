"""The simple commands of a shell text that does nothing else: no variables, no files written, nothing that only bash
knows. Which of them run, and in which order, is left open: whoever asks wants to know of them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from .grammar import parse
from .spelled import Word, word_of
from .unclear import Unclear
from .words import text_of
from .wrappers import inner_text, unwrapped

if TYPE_CHECKING:
    from tree_sitter import Node

Command = tuple[Word, ...]

_DEPTH: Final = 3
"""Shells inside shells that are looked into."""
_VARIABLES: Final = frozenset({"LC_ALL", "LANG", "LC_COLLATE", "LC_CTYPE", "TZ", "NO_COLOR", "COLUMNS"})
"""Variables that change how things are sorted and shown, and nothing else."""
_VALUE: Final = re.compile(r"[\w.@:+-]*")
_JOINTS: Final = frozenset({";", "\n", "(", ")", "{", "}", "&&", "||", "|", "|&", "!"})
_WRAPPERS: Final = frozenset({"time", "timeout", "nice", "env", "stdbuf"})


def plain_commands(text: str) -> tuple[Command, ...]:
    """Every simple command in the text, what runs it (`timeout 5`, `bash -c`) taken away. Raises Unclear."""
    return tuple(_of(parse(text), 0))


def _of(node: Node, depth: int) -> Iterator[Command]:
    read = _READ.get(node.type)
    if read is None:
        raise Unclear(f"`{text_of(node)[:60]}` is a {node.type.replace('_', ' ')}, which is not read")
    return read(node, depth)


def _joined(node: Node, depth: int) -> Iterator[Command]:
    for child in node.children:
        if child.is_named and child.type != "comment":
            yield from _of(child, depth)
        elif not child.is_named and child.type not in _JOINTS:
            raise Unclear("a part of it runs in the background")


def _redirected(node: Node, depth: int) -> Iterator[Command]:
    body = node.child_by_field_name("body")
    if body is None:
        raise Unclear("a redirection of nothing")
    for redirect in node.named_children:
        if redirect != body:
            _check(redirect)
    yield from _of(body, depth)


def _check(redirect: Node) -> None:
    """Output may go to /dev/null or beside the other output; input may come from a file below."""
    said = text_of(redirect)[:60]
    destinations = redirect.children_by_field_name("destination")
    descriptor = redirect.child_by_field_name("descriptor")
    if redirect.type != "file_redirect" or len(destinations) != 1:
        raise Unclear(f"`{said}` is not read")
    if descriptor is not None and text_of(descriptor) not in ("0", "1", "2"):
        raise Unclear(f"`{said}` is not read")
    operator = next((child.type for child in redirect.children if not child.is_named), "")
    target = word_of(destinations[0])
    null = target == Word("/dev/null")
    inside = not target.text.startswith("/") and ".." not in target.text.split("/")
    reads = operator == "<" and not target.glob and inside
    if not (reads or null or (operator == ">&" and target.text in ("1", "2"))):
        raise Unclear(f"`{said}` writes a file, or reads one elsewhere")


def _command(node: Node, depth: int) -> Iterator[Command]:
    words: list[Word] = []
    for child in node.children:
        if child.type == "variable_assignment" and not words:
            _assigned(child)
        elif child.type == "command_name":
            words.append(word_of(child.children[0]))
        elif child.is_named or child.type == "$":
            words.append(word_of(child))
        else:
            raise Unclear(f"`{text_of(node)[:60]}` is not read")
    if words[0].glob:
        raise Unclear(f"`{words[0].text}` could stand for any command")
    yield from _bare(tuple(words), depth)


def _assigned(node: Node) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    known = name is not None and name.type == "variable_name" and text_of(name) in _VARIABLES
    if not known or (value is not None and not _VALUE.fullmatch(word_of(value).text)):
        raise Unclear(f"the variable in `{text_of(node)[:40]}` may change what is run")


def _bare(words: Command, depth: int) -> Iterator[Command]:
    """The command without what only runs it."""
    texts = tuple(word.text for word in words)
    if texts[0] in _WRAPPERS:
        left = unwrapped(texts)
        if any("=" in text and not text.startswith("-") for text in texts[: len(texts) - len(left)]):
            raise Unclear(f"a variable in `{' '.join(texts)[:40]}` may change what is run")
        yield from _bare(words[len(words) - len(left) :], depth)
        return
    inner = inner_text(texts)
    if inner is None:
        yield words
    elif depth == _DEPTH or any(word.glob for word in words):
        raise Unclear("too many shells inside each other")
    else:
        yield from _of(parse(inner[0]), depth + 1)


_READ: Final[dict[str, Callable[[Node, int], Iterator[Command]]]] = {
    "program": _joined,
    "list": _joined,
    "pipeline": _joined,
    "negated_command": _joined,
    "compound_statement": _joined,
    "subshell": _joined,
    "redirected_statement": _redirected,
    "command": _command,
}
