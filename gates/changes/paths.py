"""Which files are implementation, and which are risky to change. Data, on paths relative to the workspace.

The lists are those of blade-code, with configuration added to what is no implementation.
"""

import re
from pathlib import PurePosixPath
from typing import Final

BESIDE: Final = frozenset({
    "doc", "docs", "test", "tests", "__tests__", "fixture", "fixtures", "example", "examples", "snapshot", "snapshots",
})  # fmt: skip
"""Directories whose files are no implementation."""
NOT_CODE: Final = frozenset(
    {".md", ".mdx", ".rst", ".txt", ".snap", ".json", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".lock"}
)
"""Endings of files that are no implementation: words, recorded output, configuration."""
_TEST: Final = re.compile(r"(?:^test_.*|.*_test|.*\.(?:test|spec))\.\w+$|^conftest\.py$", re.IGNORECASE)

RISKY: Final = frozenset({
    "api", "server", "backend", "infra", "infrastructure", "auth", "security", "migration", "migrations", "database",
    "workflow", "workflows",
})  # fmt: skip
"""Directories, or names of files without their ending, in which a mistake costs more than elsewhere."""
_RISKY_FILE: Final = re.compile(
    r"^(?:dockerfile|docker-compose(?:\..+)?|wrangler\.(?:jsonc?|toml)|.+\.tf)$", re.IGNORECASE
)


def is_implementation(path: str) -> bool:
    """Whether this is a file that does the work, rather than one that tests, describes or configures it."""
    parts = _parts(path)
    name = PurePosixPath(path).name
    return not (BESIDE & set(parts[:-1]) or PurePosixPath(name).suffix.lower() in NOT_CODE or _TEST.match(name))


def is_risky(path: str) -> bool:
    """Whether a mistake in this file is worse than elsewhere. Tests and words about it are not risky."""
    parts = _parts(path)
    name = PurePosixPath(path).name
    if (
        BESIDE & set(parts[:-1])
        or _TEST.match(name)
        or PurePosixPath(name).suffix.lower() in (".md", ".mdx", ".rst", ".txt")
    ):
        return False
    return bool(RISKY & {*parts[:-1], PurePosixPath(name).stem.lower()} or _RISKY_FILE.match(name))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in PurePosixPath(path.replace("\\", "/")).parts)
