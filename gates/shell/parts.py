"""Every command that a shell text could run, as far as it can be seen: for rules that forbid.

Nothing is left out to be sure of the rest: commands in substitutions, functions and loops, what a wrapper (`sudo`,
`xargs`, `find -exec`) or an inner shell runs. `whole` is False where something runs that cannot be read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import attrs

from .grammar import parse
from .spelled import word_of
from .unclear import Unclear
from .words import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DEPTH: Final = 5
"""Shells inside shells that are looked into."""
_WORDS: Final = 200
"""Words of a command behind a wrapper that are looked at as commands (our choice: nobody writes more)."""
_WRAPPERS: Final = frozenset({
    "sudo", "doas", "su", "env", "timeout", "nice", "nohup", "time", "stdbuf", "xargs", "command", "builtin", "exec",
    "setsid", "ionice", "watch", "chroot", "unshare", "flock", "parallel", "chrt", "taskset", "script", "strace",
    "ltrace", "busybox", "coproc", "toybox", "runuser", "setpriv", "pkexec", "systemd-run", "unbuffer",
    "chronic", "fakeroot", "faketime", "firejail", "bwrap", "nsenter", "proot", "gosu", "su-exec", "entr", "hyperfine",
    "xvfb-run", "dbus-run-session", "direnv", "prlimit", "numactl", "eatmydata", "rlwrap", "ssh",
    "npx", "bunx", "uvx", "uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba",
})  # fmt: skip
"""Programs that run another one: whatever stands behind them may be the command."""
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})
_EXEC: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_ATTACHED: Final = re.compile(r"\A(?:--[\w-]+=|-[A-Za-z](?=[A-Za-z]))")
_OPAQUE: Final = frozenset(
    {"alias", "source", ".", "enable", "hash", "unalias", "let", "mapfile", "readarray", "bind", "complete"}
)
"""They change what later words mean, or run what stands in one of their words."""
_SUBSCRIPT: Final = re.compile(r"\[.*(?:\$\(|`)", re.DOTALL)
"""An index that runs something where a builtin (`test -v`, `printf -v`, `read`, `declare`) evaluates it."""


@attrs.frozen
class Part:
    """A command that may run. `known` is False if a word is not known before it runs; it then stands as it is."""

    words: tuple[str, ...]
    known: bool = True

    @property
    def text(self) -> str:
        """The words with one space between them; a word that has spaces or quotes of its own is quoted."""
        return " ".join(map(quoted, self.words))


@attrs.frozen
class Parts:
    commands: tuple[Part, ...]
    whole: bool


def quoted(word: str) -> str:
    if word and not any(mark.isspace() or mark in "'\"\\" for mark in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


@lru_cache(maxsize=512)
def parts_of(text: str) -> Parts:
    """What `text` may run; where it cannot be parsed at all, nothing is known of it."""
    return _parts(text, 0)


def _parts(text: str, depth: int) -> Parts:
    try:
        root = parse(text)
    except Unclear:
        return Parts((), whole=False)
    found: list[Part] = []
    whole = True
    for node in _commands(root):
        part = _part(node)
        seen = list(_seen(part, depth)) if part is not None else [Parts((), whole=False)]
        for more in seen:
            found += more.commands
            whole &= more.whole
    return Parts(tuple(dict.fromkeys(found)), whole)


def _commands(node: Node) -> Iterator[Node]:
    if node.type == "command":
        yield node
    for child in node.named_children:
        yield from _commands(child)


def _part(node: Node) -> Part | None:
    """None if not even the command's name is known."""
    words: list[str] = []
    known = True
    for child in node.children:
        if child.type in ("variable_assignment", "comment") or (not child.is_named and child.type != "$"):
            continue
        if child.type.endswith("redirect"):
            continue
        try:
            word = word_of(child.children[0] if child.type == "command_name" else child)
        except Unclear:
            if not words:
                return None
            words.append(text_of(child))
            known = False
            continue
        if word.glob and not words:
            return None
        words.append(word.text)
    return Part(tuple(words), known) if words else None


def _seen(part: Part, depth: int) -> Iterator[Parts]:
    """The command itself, under its plain name, and what it runs in turn."""
    for start in _starts(part.words):
        words = part.words[start:]
        name, rest = posixpath.basename(words[0]), words[1:]
        itself = (attrs.evolve(part, words=words), attrs.evolve(part, words=(name, *rest)))
        yield Parts(
            itself, whole=name not in _OPAQUE and len(words) <= _WORDS and not any(map(_SUBSCRIPT.search, rest))
        )
        if name in _SHELLS:
            yield from _of_shell(words, part, depth)
        elif name in _WRAPPERS:
            for text in rest:
                if " " in text.strip():  # `env -S TEXT`, `script -c TEXT`, also with the option in the same word
                    yield _inner(_ATTACHED.sub("", text), part, depth)
        elif name == "eval":
            yield _inner(" ".join(rest), part, depth)
        elif name == "trap" and rest:
            yield _inner(rest[0], part, depth)


def _starts(words: tuple[str, ...]) -> Iterator[int]:
    """Where in these words a command may begin."""
    yield 0
    wrapped = posixpath.basename(words[0]) in _WRAPPERS
    for place in range(1, min(len(words), _WORDS)):
        wrapped |= words[place - 1] in _EXEC
        if wrapped and not words[place].startswith("-") and "=" not in words[place]:
            yield place


def _of_shell(words: tuple[str, ...], part: Part, depth: int) -> Iterator[Parts]:
    """`-c TEXT` is read; without it a shell reads a file, which is a program like any other, or its input."""
    texts = [
        word
        for option, word in pairwise(words[1:])
        if option.startswith("-") and not option.startswith("--") and "c" in option
    ]
    if not texts and all(word.startswith("-") for word in words[1:]):
        yield Parts((), whole=False)
    for text in texts:
        yield _inner(text, part, depth)


def _inner(text: str, part: Part, depth: int) -> Parts:
    if depth == _DEPTH:
        return Parts((), whole=False)
    found = _parts(text, depth + 1)
    return attrs.evolve(found, whole=found.whole and part.known)
