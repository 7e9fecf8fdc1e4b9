"""What is no part of a workspace's content: bookkeeping, caches, and products that anyone can make again."""

import re
from fnmatch import translate
from functools import lru_cache
from typing import Final

OWN: Final = (".git", ".interlock", ".interlock-*.tmp", ".hg", ".svn", ".jj")
"""Bookkeeping of version control and of Interlock itself."""
CACHES: Final = (
    "__pycache__", "*.pyc", "*.pyo", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox",
    ".coverage", ".coverage.*", ".cache", ".eslintcache", ".parcel-cache", ".turbo", ".gradle", ".DS_Store",
    "*.tsbuildinfo", ".ipynb_checkpoints",
)  # fmt: skip
"""Left behind by running things. They do not count even where somebody has put them under version control: otherwise a
test run would make its own evidence stale."""
PRODUCTS: Final = (
    "node_modules", ".venv", "venv", "dist", "build", "target", "htmlcov", "*.egg-info", ".eggs",
    ".next", ".nuxt", ".svelte-kit", "bazel-*", "*.o", "*.class",
)  # fmt: skip
"""Usually made from the rest. They count where version control has them, because then they are sources."""


def _any(patterns: tuple[str, ...]) -> "re.Pattern[bytes]":
    return re.compile("|".join(translate(pattern) for pattern in patterns).encode())


_NEVER: Final = _any((*OWN, *CACHES))
_UNTRACKED: Final = _any(PRODUCTS)


def is_ignored(path: bytes, *, tracked: bool = False) -> bool:
    """Whether any name of the path is on the lists."""
    return any(_is_listed(name, tracked=tracked) for name in path.split(b"/"))


@lru_cache(maxsize=1 << 16)  # names of directories and of many files come again and again
def _is_listed(name: bytes, *, tracked: bool) -> bool:
    return bool(_NEVER.match(name) or (not tracked and _UNTRACKED.match(name)))


class Sieve:
    """`is_ignored` for many paths of one listing: what is known of a directory is not asked again."""

    def __init__(self, *, tracked: bool) -> None:
        self._tracked = tracked
        self._directories: dict[bytes, bool] = {b"": False}

    def ignores(self, path: bytes) -> bool:
        directory, _, name = path.rpartition(b"/")
        known = self._directories.get(directory)
        if known is None:
            known = self._directories[directory] = self.ignores(directory)
        return known or _is_listed(name, tracked=self._tracked)
