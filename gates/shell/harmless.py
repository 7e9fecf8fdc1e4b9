"""What may stand beside a check without changing what its exit status means. Data."""

from typing import Final

VARIABLES: Final = frozenset({
    "CI", "COLUMNS", "DEBUG", "FORCE_COLOR", "HYPOTHESIS_PROFILE", "LANG", "LC_ALL", "NO_COLOR",
    "NODE_ENV", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONUTF8",
    "PYTHONWARNINGS", "RUST_BACKTRACE", "RUST_LOG", "TERM", "TZ", "VIRTUAL_ENV",
})  # fmt: skip
"""Variables that choose no other program and no other tests."""

COMMANDS: Final = (
    "echo", "printf", "pwd", "true", ":", "ls", "cat", "head", "tail", "wc", "date", "which", "type", "command -v",
    "mkdir -p", "sleep", "uname", "git status", "git diff", "git log", "git rev-parse", "python --version",
    "python3 --version", "node --version", "pip install", "pip3 install", "python -m pip install",
    "python3 -m pip install", "uv pip install", "uv sync", "poetry install", "pdm install", "npm ci", "npm install",
    "pnpm install", "yarn install", "yarn --version", "bun install", "bundle install", "go mod download",
    "go mod tidy", "go generate", "go version", "cargo fetch", "cargo --version", "cmake -S", "cmake -B", "cmake ..",
    "cmake .", "coverage report", "coverage xml", "coverage html",
)  # fmt: skip
"""Beginnings of commands that may come before or after a check: they change nothing of the shell that runs it.
What they change in the workspace, its revision shows."""

FILTERS: Final = frozenset({
    "tail", "head", "tee", "cat", "grep", "egrep", "fgrep", "rg", "sed", "awk", "sort", "uniq", "wc", "cut", "tr",
})  # fmt: skip
"""Commands that output may be piped through, as long as `set -o pipefail` keeps the check's exit status."""


def is_harmless(words: tuple[str, ...]) -> bool:
    """Whether these words are a command of the list."""
    return any(words[: len(start)] == start for start in _STARTS)


_STARTS: Final = tuple(tuple(command.split()) for command in COMMANDS)
