"""Which commands prove what. Data, and a strict reading of one simple command.

A command proves a kind only if it is that command and nothing else: no pipes, lists, redirections or expansions
(`cd DIR && command` aside), and no option that makes it check nothing.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Final

PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "test": (
        "pytest", "py.test", "tox", "nox", "nose2", "unittest", "jest", "vitest", "mocha", "ctest",
        "npm test", "npm run test", "pnpm test", "pnpm run test", "yarn test", "yarn run test", "bun test",
        "node --test", "go test", "cargo test", "cargo nextest run", "mvn test", "mvn verify", "gradle test",
        "./gradlew test", "./mvnw test", "make test", "make check", "dotnet test", "rspec", "deno test",
    ),
    "lint": (
        "ruff check", "flake8", "pylint", "eslint", "biome check", "biome lint", "golangci-lint run", "go vet",
        "cargo clippy", "npm run lint", "pnpm lint", "pnpm run lint", "yarn lint", "yarn run lint", "make lint",
        "shellcheck", "rubocop",
    ),
    "type-check": (
        "mypy", "pyright", "basedpyright", "pyre check", "tsc", "cargo check", "npm run typecheck",
        "npm run type-check", "pnpm typecheck", "yarn typecheck", "make typecheck",
    ),
    "build": (
        "python -m build", "hatch build", "uv build", "go build", "cargo build", "npm run build", "pnpm build",
        "pnpm run build", "yarn build", "yarn run build", "make", "make build", "make all", "mvn package",
        "gradle build", "./gradlew build", "cmake --build", "ninja", "dotnet build", "tsc --build",
    ),
}  # fmt: skip
"""Per kind: the words a command starts with. Later options and paths are free, within `_VOID`."""

EXAMPLES: Final[Mapping[str, str]] = {
    "test": "pytest -q",
    "lint": "ruff check .",
    "type-check": "mypy .",
    "build": "make",
}

_VOID: Final = frozenset({
    "--clean", "--co", "--collect-only", "--dry-run", "--exit-zero", "--fix", "--fixtures", "--help", "--init",
    "--just-print", "--list", "--listTests", "--markers", "--no-run", "--pass-with-no-tests", "--passWithNoTests",
    "--setup-plan", "--showConfig", "--update", "--update-snapshot", "--updateSnapshot", "--version", "--watch",
    "--watchAll", "--write", "-V", "-h", "-u",
})  # fmt: skip
"""Options with which a command checks nothing, hides its failure, or changes what it checks."""
_RUNNERS: Final = (
    ("python", "-m"),
    ("python3", "-m"),
    ("uv", "run"),
    ("poetry", "run"),
    ("hatch", "run"),
    ("npx",),
    ("bunx",),
)
_ENVIRONMENT: Final = frozenset(
    {"CI", "PYTHONPATH", "NO_COLOR", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE", "TZ", "LC_ALL"}
)
_OPERATORS: Final = re.compile(r"^[;&|<>()]+$")
_ASSIGNMENT: Final = re.compile(r"^([A-Za-z_][A-Za-z0-9_]*)=")


def kinds_of(command: str) -> tuple[str, ...]:
    """The kinds that an exit status 0 of this command proves; none if in doubt."""
    words = simple_command(command)
    if not words or _VOID & {word.partition("=")[0] for word in words}:
        return ()
    if words[0] == "make" and "-n" in words:
        return ()
    return tuple(kind for kind, patterns in PATTERNS.items() if any(_starts(words, p.split()) for p in patterns))


def _starts(words: list[str], pattern: list[str]) -> bool:
    if pattern == ["make"]:
        return all(word.startswith("-") for word in words[1:]) and words[0] == "make"
    return words[: len(pattern)] == pattern


def simple_command(command: str) -> list[str]:
    """The words of one simple command, without `cd DIR &&`, harmless variables and runners; empty if it is not one."""
    if re.search(r"[\n\r$`#\\]", command):
        return []
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return []
    if len(words) > 3 and words[0] == "cd" and words[2] == "&&":
        words = words[3:]
    if any(_OPERATORS.match(word) for word in words):
        return []
    while words and (assigned := _ASSIGNMENT.match(words[0])):
        if assigned[1] not in _ENVIRONMENT:
            return []
        words = words[1:]
    return _without_runner(words)


def _without_runner(words: list[str]) -> list[str]:
    for runner in _RUNNERS:
        if tuple(words[: len(runner)]) == runner and words[len(runner) : len(runner) + 1] != ["build"]:
            return words[len(runner) :]
    return words
