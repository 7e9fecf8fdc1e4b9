"""Which simple commands of a shell text have certainly run, and ended with 0, if the whole text ended with 0.

Only constructs whose meaning is known are read; any other makes the whole text Unclear. That also covers what could
change the meaning of a command from afar: aliases, functions, traps, `eval`, `exec`, `source`, unknown programs.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import attrs

from .grammar import parse
from .harmless import FILTERS, VARIABLES, is_harmless
from .unclear import Unclear
from .words import harmless_value, literal, text_of
from .wrappers import inner_text, unwrapped

if TYPE_CHECKING:
    from tree_sitter import Node

Words = tuple[str, ...]
IsCheck = Callable[[Words], bool]

_DEPTH: Final = 3
"""Shells inside shells that are looked into."""
_WRITES: Final = frozenset({">", ">>", "&>", "&>>", ">&", ">|"})


@attrs.frozen
class Simple:
    """One simple command, and the directory under the workspace in which it ran (empty: the workspace itself)."""

    words: Words
    directory: str = ""


@attrs.define
class _Shell:
    """What the statements so far have set."""

    root: str
    is_check: IsCheck
    directory: str = ""
    pipefail: bool = False
    errexit: bool = False
    heeded: bool = True
    """`set -e` counts here: bash forgets it inside `&&` and `||`."""
    depth: int = 0

    def inside(self, *, heeded: bool | None = None) -> _Shell:
        """A shell that starts with what is set here."""
        return attrs.evolve(self, heeded=self.heeded if heeded is None else heeded)


def proven(text: str, is_check: IsCheck, root: str = "") -> tuple[Simple, ...]:
    """The commands that exit status 0 of `text` vouches for, in their order.

    is_check: tells whether words are a command of interest; others have to be harmless.
    root: absolute path of the workspace, if known: `cd` to a place inside it is followed. Raises Unclear.
    """
    return tuple(_sequence(parse(text), _Shell(root, is_check)))


def _sequence(node: Node, shell: _Shell) -> list[Simple]:
    """Statements one after the other: the last one's status counts, with `set -e` every plain one's."""
    if any(not child.is_named and child.type not in (";", "\n", "(", ")", "{", "}") for child in node.children):
        raise Unclear("a part of it runs in the background, or its status is turned round")
    statements = [child for child in node.named_children if child.type != "comment"]
    found: list[Simple] = []
    for statement in statements:
        before = shell.directory
        shown = _statement(statement, shell)
        sure = statement is statements[-1] or (shell.errexit and shell.heeded and _plain(statement))
        if sure:
            found += shown
        elif shell.directory != before:
            raise Unclear("if `cd` fails, what follows runs elsewhere; join them with &&")
    return found


def _plain(node: Node) -> bool:
    """A statement whose failure `set -e` always sees."""
    body = node.child_by_field_name("body") if node.type == "redirected_statement" else node
    return body is not None and body.type in ("command", "pipeline")


def _statement(node: Node, shell: _Shell) -> list[Simple]:
    read = _READ.get(node.type)
    if read is None:
        raise Unclear(f"`{text_of(node)[:60]}` is a {node.type.replace('_', ' ')}, which is not read")
    return read(node, shell)


def _list(node: Node, shell: _Shell, piped: tuple[Node, ...] = ()) -> list[Simple]:
    """`a && b`, `a || b`; the last one's output goes through `piped`."""
    parts = [child for child in node.named_children if child.type != "comment"]
    if len(parts) != 2:
        raise Unclear(f"`{text_of(node)[:60]}` is not read")
    left, right = parts
    operator = next(child.type for child in node.children if not child.is_named)
    inside = shell.inside(heeded=False)
    found = _statement(left, inside)
    if operator == "&&":
        found += _pipe((right, *piped), inside) if piped else _statement(right, inside)
    elif piped or not _always_fails(right):
        raise Unclear(f"`|| {text_of(right)[:40]}` can hide a failure")
    shell.directory, shell.pipefail, shell.errexit = inside.directory, inside.pipefail, inside.errexit
    return found


def _always_fails(node: Node) -> bool:
    words = text_of(node).split()
    if words == ["false"]:
        return True
    return len(words) == 2 and words[0] == "exit" and words[1].isdigit() and 0 < int(words[1]) < 256


def _pipeline(node: Node, shell: _Shell) -> list[Simple]:
    first, *rest = node.named_children
    body = _redirects_checked(first) if first.type == "redirected_statement" else first
    if body.type == "list":  # the grammar takes `a && b 2>&1 | c` for `(a && b) 2>&1 | c`; bash pipes b alone
        return _list(body, shell, tuple(rest))
    return _pipe((first, *rest), shell)


def _pipe(parts: tuple[Node, ...], shell: _Shell) -> list[Simple]:
    found: list[Simple] = []
    for part in parts:
        if part.type not in ("command", "redirected_statement"):
            raise Unclear(f"`{text_of(part)[:40]}` is too much for a pipe")
        shown = _statement(part, shell.inside())
        if part is parts[-1] or shell.pipefail:
            found += shown
        elif any(shell.is_check(simple.words) for simple in shown):
            raise Unclear("a pipe without `set -o pipefail` hides its exit status")
    return found


def _redirected(node: Node, shell: _Shell) -> list[Simple]:
    return _statement(_redirects_checked(node), shell)


def _redirects_checked(node: Node) -> Node:
    """What is redirected. Raises Unclear for a redirection that is more than output to a file."""
    body = node.child_by_field_name("body")
    if body is None:
        raise Unclear("a redirection of nothing")
    for redirect in node.named_children:
        if redirect != body:
            _check_redirect(redirect)
    return body


def _check_redirect(node: Node) -> None:
    said = text_of(node)[:60]
    if node.type != "file_redirect":
        raise Unclear(f"`{said}` feeds it something")
    operator = next((child.type for child in node.children if not child.is_named), "")
    destinations = node.children_by_field_name("destination")
    descriptor = node.child_by_field_name("descriptor")
    if len(destinations) != 1 or (descriptor is not None and text_of(descriptor) not in ("1", "2")):
        raise Unclear(f"`{said}` is an unusual redirection")
    target = literal(destinations[0])
    if operator not in _WRITES and not (operator == "<" and target == "/dev/null"):
        raise Unclear(f"`{said}` feeds it something")


def _group(node: Node, shell: _Shell) -> list[Simple]:
    return _sequence(node, shell)


def _subshell(node: Node, shell: _Shell) -> list[Simple]:
    return _sequence(node, shell.inside())


def _assignment(node: Node, shell: _Shell) -> list[Simple]:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or name.type != "variable_name" or text_of(name) not in VARIABLES:
        raise Unclear(f"the variable in `{text_of(node)[:40]}` may change what is checked")
    if value is not None:
        harmless_value(value)
    return []


def _assignments(node: Node, shell: _Shell) -> list[Simple]:
    for child in node.named_children:
        _assignment(child, shell)
    return []


def _declaration(node: Node, shell: _Shell) -> list[Simple]:
    if text_of(node.children[0]) != "export":
        raise Unclear(f"`{text_of(node)[:40]}` is not read")
    for child in node.named_children:
        if child.type == "variable_assignment":
            _assignment(child, shell)
        elif child.type != "variable_name" or text_of(child) not in VARIABLES:
            raise Unclear(f"`{text_of(node)[:40]}` may change what is checked")
    return []


def _command(node: Node, shell: _Shell) -> list[Simple]:
    words: list[str] = []
    for child in node.children:
        if child.type == "variable_assignment" and not words:
            _assignment(child, shell)
        elif child.type == "command_name":
            words.append(literal(child.named_children[0]))
        elif child.is_named:
            words.append(literal(child))
        else:
            raise Unclear(f"`{text_of(node)[:60]}` is not read")
    return _run(tuple(words), shell)


def _run(words: Words, shell: _Shell) -> list[Simple]:
    if words[0] == "cd":
        shell.directory = _moved(words, shell)
        return []
    if words[0] == "set":
        _set(words[1:], shell)
        return []
    words = unwrapped(words)
    inner = inner_text(words)
    if inner is not None:
        return _inner(inner, shell)
    if not (shell.is_check(words) or is_harmless(words) or words[0] in FILTERS):
        raise Unclear(f"`{words[0]}` is neither a check nor known to be harmless")
    return [Simple(words, shell.directory)]


def _inner(inner: tuple[str, Words], shell: _Shell) -> list[Simple]:
    if shell.depth == _DEPTH:
        raise Unclear("too many shells inside each other")
    text, options = inner
    child = _Shell(shell.root, shell.is_check, shell.directory, depth=shell.depth + 1)
    _set(options, child)
    return _sequence(parse(text), child)


def _moved(words: Words, shell: _Shell) -> str:
    """The directory, relative to the workspace, after `cd`."""
    if len(words) != 2 or words[1].startswith("-") or not words[1]:
        raise Unclear(f"`{' '.join(words)}` leads to a place that is not known")
    place = posixpath.normpath(posixpath.join(shell.directory, words[1]))
    if place.startswith("/"):
        root = posixpath.normpath(shell.root) if shell.root else ""
        if not root or (place != root and not place.startswith(root.rstrip("/") + "/")):
            raise Unclear(f"`cd {words[1]}` leads out of the workspace")
        place = posixpath.relpath(place, root)
    if place == ".." or place.startswith("../"):
        raise Unclear(f"`cd {words[1]}` leads out of the workspace")
    return "" if place == "." else place


def _set(options: Words, shell: _Shell) -> None:
    """Follow `set`: -e, -u, -x and pipefail may be switched on; nothing is ever switched off."""
    left = list(options)
    while left:
        option = left.pop(0)
        if not option.startswith("-") or not option[1:] or set(option[1:]) - set("euxo"):
            raise Unclear(f"`set {option}` is not read")
        shell.errexit |= "e" in option
        if "o" in option:
            named = left.pop(0) if left else ""
            if named not in ("pipefail", "errexit", "nounset", "xtrace"):
                raise Unclear(f"`set -o {named}` is not read")
            shell.pipefail |= named == "pipefail"
            shell.errexit |= named == "errexit"


_READ: Final[dict[str, Callable[[Node, _Shell], list[Simple]]]] = {
    "command": _command,
    "list": _list,
    "pipeline": _pipeline,
    "redirected_statement": _redirected,
    "compound_statement": _group,
    "subshell": _subshell,
    "variable_assignment": _assignment,
    "variable_assignments": _assignments,
    "declaration_command": _declaration,
}
