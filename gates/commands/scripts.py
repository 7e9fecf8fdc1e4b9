"""Tools that run targets which a project names itself: make, npm, gradle, tox and others. Data.

A name is believed: what a project calls its tests are its tests. That is what makes a change of such a file one of
the workspace, which the revision shows.
"""

import re
from collections.abc import Mapping
from typing import Final

import attrs

_TEST, _LINT, _TYPES, _BUILD = ("test",), ("lint",), ("type-check",), ("build",)

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("test", "tests", "unit", "unittest", "unittests", "spec", "specs", "pytest", "jest"), _TEST),
    **dict.fromkeys(("lint", "linter", "eslint", "ruff", "clippy", "flake8"), _LINT),
    **dict.fromkeys(
        ("typecheck", "type-check", "typing", "types", "check-types", "type_check", "tsc", "mypy", "pyright"), _TYPES
    ),
    **dict.fromkeys(("build", "compile"), _BUILD),
}
"""What a target's name says."""
_CHANGES: Final = frozenset({
    "watch", "fix", "update", "dev", "debug", "open", "ui", "help", "list", "clean", "serve", "start", "deps",
    "install", "setup", "down", "stop", "dry", "format", "write",
})  # fmt: skip
"""Parts of a name (`test:watch`) after which it is something else."""


@attrs.frozen
class Runner:
    """How a tool is told its targets. `valued`: options that take a further word. `bare`: kinds without any target."""

    names: Mapping[str, tuple[str, ...]] = NAMES
    valued: frozenset[str] = frozenset()
    bare: tuple[str, ...] = ()
    run: frozenset[str] = frozenset()
    """Words that may come before the target: the first word has to be one of them, or one of `short`."""
    short: frozenset[str] = frozenset()
    """Targets that need none of `run`. Empty, with `run` empty: all."""
    many: bool = False
    """It takes several targets; else what follows belongs to the target."""


def _more(**names: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    return {**NAMES, **names}


_MAVEN: Final = {
    "test": _TEST, "integration-test": _TEST, "verify": ("test", "build"), "install": ("test", "build"),
    "package": ("test", "build"), "compile": _BUILD, "test-compile": _BUILD, "checkstyle:check": _LINT,
}  # fmt: skip
_GRADLE: Final = _more(
    check=_TEST, build=("test", "build"), assemble=_BUILD, classes=_BUILD, jar=_BUILD,
    ktlintCheck=_LINT, detekt=_LINT, checkstyleMain=_LINT, spotlessCheck=_LINT,
)  # fmt: skip
_MAKE: Final = _more(check=_TEST, all=_BUILD)
_JS_OPTIONS: Final = frozenset({"--prefix", "-C", "--dir", "--cwd", "-w", "--workspace", "--filter", "-F"})
_RUN: Final = frozenset({"run", "run-script"})

RUNNERS: Final[Mapping[str, Runner]] = {
    "make": Runner(_MAKE, frozenset({"-C", "--directory", "-j", "-l"}), bare=_BUILD, many=True),
    "gmake": Runner(_MAKE, frozenset({"-C", "--directory", "-j", "-l"}), bare=_BUILD, many=True),
    "just": Runner(_MAKE),
    "task": Runner(_MAKE),
    "rake": Runner(bare=_TEST, many=True),
    "invoke": Runner(),
    "inv": Runner(),
    "poe": Runner(),
    "npm": Runner(valued=_JS_OPTIONS, run=_RUN, short=frozenset({"test", "t", "tst"})),
    "pnpm": Runner(valued=_JS_OPTIONS, run=_RUN, short=frozenset({"test", "t", "lint", "build", "typecheck", "tsc"})),
    "yarn": Runner(valued=_JS_OPTIONS, run=_RUN, short=frozenset({"test", "lint", "build", "typecheck", "tsc"})),
    "bun": Runner(valued=_JS_OPTIONS, run=_RUN),
    "turbo": Runner(run=_RUN, short=frozenset({"test", "lint", "build", "typecheck"})),
    "nx": Runner(run=_RUN, short=frozenset({"test", "lint", "build"})),
    "composer": Runner(run=_RUN, short=frozenset({"test", "lint"})),
    "deno": Runner(run=frozenset({"task"})),
    "hatch": Runner(run=_RUN),
    "pdm": Runner(run=_RUN),
    "mvn": Runner(_MAVEN, frozenset({"-pl", "-f", "-P", "-T", "-s"}), many=True),
    "gradle": Runner(_GRADLE, frozenset({"-p", "--project-dir"}), many=True),
}  # fmt: skip
"""By the tool's name; `mvnw` and `gradlew` are read as theirs."""
ENVIRONMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "tox": ("-e", "--env"),
    "nox": ("-s", "--session", "--sessions", "-e"),
}
"""Tools whose option names what is run; without it, they run the tests."""
_PYTHON: Final = re.compile(r"(py|pypy)\d*([.-].*)?")


def kinds_of_target(name: str, names: Mapping[str, tuple[str, ...]] = NAMES) -> tuple[str, ...]:
    """What a target's name says: `test:unit` are tests, `test:watch` is nothing."""
    parts = re.split(r"[:/]", name.removeprefix(":"))
    if _CHANGES & {piece for part in parts for piece in re.split(r"[-_.]", part)}:
        return ()
    return names.get(name) or names.get(parts[0]) or (names.get(parts[-1], ()) if ":" in name else ())


def kinds_of_environment(names: str) -> tuple[str, ...]:
    """What tox's or nox's environments (joined by commas) check."""
    found: list[str] = []
    for name in names.split(","):
        first = re.split(r"[-(]", name)[0]
        found += _TEST if _PYTHON.fullmatch(name) else kinds_of_target(name) or kinds_of_target(first)
    return tuple(dict.fromkeys(found))
