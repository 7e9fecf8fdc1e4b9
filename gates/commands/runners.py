"""Programs that start a tool by its name: `python -m`, `uv run`, `npx`, `coverage run -m`. What is left is the tool."""

import posixpath
import re
from collections.abc import Mapping
from typing import Final

from .tools import MODULES, STARTS

Words = tuple[str, ...]

_RUNNERS: Final[Mapping[Words, frozenset[str]]] = {
    ("uv", "run"): frozenset(
        {"--with", "-p", "--python", "--extra", "--group", "--package", "--project", "--directory"}
    ),
    ("uv", "tool", "run"): frozenset({"--with", "--from", "-p", "--python"}),
    ("uvx",): frozenset({"--with", "--from", "-p", "--python"}),
    ("poetry", "run"): frozenset(),
    ("pdm", "run"): frozenset({"-p", "--project"}),
    ("hatch", "run"): frozenset(),
    ("pipenv", "run"): frozenset(),
    ("rye", "run"): frozenset(),
    ("pipx", "run"): frozenset({"--spec"}),
    ("conda", "run"): frozenset({"-n", "--name", "-p", "--prefix"}),
    ("npx",): frozenset({"-p", "--package"}),
    ("bunx",): frozenset(),
    ("npm", "exec"): frozenset(),
    ("pnpm", "exec"): frozenset(),
    ("pnpm", "dlx"): frozenset(),
    ("yarn", "exec"): frozenset(),
    ("yarn", "dlx"): frozenset(),
    ("bundle", "exec"): frozenset(),
    ("mise", "exec"): frozenset(),
}
"""First words -> options that take a further word."""
_OWN_SCRIPTS: Final = frozenset({("hatch", "run"), ("pdm", "run")})
"""They also run scripts that the project names."""
_TOOLS: Final = frozenset(start[:1] for start in STARTS)
_PYTHON: Final = re.compile(r"python(\d+(\.\d+)?)?|pypy3?|py")
_PYTHON_OPTIONS: Final = frozenset({"-B", "-I", "-P", "-s", "-u", "-bb", "-b"})
_COVERAGE: Final = frozenset(
    {"--branch", "-p", "--parallel-mode", "-a", "--append", "--source", "--rcfile", "--data-file"}
)
_TRUSTED: Final = re.compile(
    r"(?:(?:\./)?(?:[\w./-]*/)?(?:\.?venv|env|node_modules|vendor)|/(?:[\w.-]+/)*?[\w.-]+)/\.?bin/[\w.-]+"
)
"""Paths of tools that are installed: in a virtual environment, `node_modules`, `vendor`, or an absolute `bin`."""
_WRAPPED: Final = {"mvnw": "mvn", "gradlew": "gradle"}


def tool_of(words: Words) -> Words:
    """The words from the tool's name on; a module that only `python -m` starts is `-m NAME`; empty if in doubt."""
    words = _named(words)
    if words[1:2] and words[1].startswith("+"):  # a Rust toolchain
        words = (words[0], *words[2:])
    for start, valued in _RUNNERS.items():
        if words[: len(start)] == start:
            inner = tool_of(_after_options(words[len(start) :], valued))
            return words if start in _OWN_SCRIPTS and inner[:1] not in _TOOLS else inner
    if _PYTHON.fullmatch(words[0]):
        return _module(words[1:])
    if words[:2] == ("coverage", "run"):
        return _covered(words[2:])
    return words


def _named(words: Words) -> Words:
    """The tool by its bare name, if the path is one where tools are installed."""
    first = words[0] if words else ""
    if first in ("./mvnw", "./gradlew"):
        first = _WRAPPED[first[2:]]
    elif "/" in first and _TRUSTED.fullmatch(first):
        first = posixpath.basename(first)
    return (first, *words[1:])


def _after_options(words: Words, valued: frozenset[str]) -> Words:
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in valued else 1 :]
    return words or ("",)


def _module(words: Words) -> Words:
    while words and (words[0] in _PYTHON_OPTIONS or words[0] in ("-X", "-W")):
        words = words[2 if words[0] in ("-X", "-W") else 1 :]
    if words[:1] == ("-m",) and words[1:2] == ("coverage",):
        return _covered(words[3:]) if words[2:3] == ("run",) else ("coverage", *words[2:])
    if words[:1] == ("-m",) and len(words) > 1 and words[1] in MODULES:
        name = words[1].replace("_", "-")
        return ("-m", *words[1:]) if name in ("build", "unittest") else (name, *words[2:])
    if words[:1] == ("manage.py",):
        return words
    return ("python", *words)


def _covered(words: Words) -> Words:
    while words and words[0].partition("=")[0] in _COVERAGE:
        takes = words[0] in ("--source", "--rcfile", "--data-file")
        words = words[2 if takes else 1 :]
    return _module(words) if words[:1] == ("-m",) else ("coverage", "run")
