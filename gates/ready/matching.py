"""Which paths a pattern means: `*` within a name, `**` across folders, a folder's name alone for all that is in it."""

import re
from collections.abc import Iterable
from functools import lru_cache


def matching(paths: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The paths that fit at least one pattern, in their order."""
    tests = [_compiled(pattern) for pattern in patterns]
    return [path for path in paths if any(test.fullmatch(path) for test in tests)]


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> "re.Pattern[str]":
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/"))
    meant = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile("".join(meant.get(part, re.escape(part)) for part in parts) + r"(?:/.*)?", re.DOTALL)
