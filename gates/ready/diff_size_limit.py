"""diff_size_limit: the run changed at most so many files and lines, counted by git against where it started."""

import asyncio
from collections.abc import Mapping
from typing import Final

from states.errors import ConfigError
from states.ports import Outside
from states.records import JSON

from .observed import Files, Observed, Sight

_GIT: Final = (
    "git",
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "diff.external=",
)
"""Nothing that the repository's configuration names is run."""


class DiffSizeLimit(Observed):
    name = "diff_size_limit"

    def __init__(self, *, lines: int = 400, files: int = 20) -> None:
        """`lines`: added and removed ones together. `files`: changed, added and removed ones."""
        self.lines, self.files = lines, files

    async def remember(self, files: Files) -> Mapping[str, JSON]:
        """The state of the tracked files as a commit that no branch names, and the untracked files with their lines."""
        stash = (await _git(files, "stash", "create")).strip()
        base = stash or (await _git(files, "rev-parse", "HEAD")).strip()
        return {"base": base, "untracked": dict(await _untracked(files))}

    async def look(self, files: Files, outside: Outside, before: Mapping[str, JSON]) -> Sight:
        known = before.get("untracked")
        old = known if isinstance(known, dict) else {}
        new = await _untracked(files)
        sizes = [
            _changed(line)
            for line in (await _git(files, "diff", "--numstat", "--no-ext-diff", str(before["base"]))).splitlines()
        ]
        sizes += [abs(count - _count(old.get(path))) or 1 for path, count in new.items() if count != old.get(path)]
        sizes += [_count(count) for path, count in old.items() if path not in new]
        holds = sum(sizes) <= self.lines and len(sizes) <= self.files
        return Sight(holds, f"the change is too large: {sum(sizes)} lines in {len(sizes)} files; "
                            f"at most {self.lines} lines in {self.files} files are wanted")  # fmt: skip


def _changed(line: str) -> int:
    added, removed, _ = line.split("\t", 2)
    return sum(int(number) for number in (added, removed) if number.isdigit())


def _count(value: JSON) -> int:
    return value if isinstance(value, int) else 0


async def _untracked(files: Files) -> dict[str, int]:
    listed = (await _git(files, "ls-files", "-z", "--others", "--exclude-standard")).split("\0")
    found: dict[str, int] = {}
    for path in filter(None, listed):
        whole = files.root / path
        if whole.is_file():
            found[path] = len(whole.read_bytes().splitlines())
    return found


async def _git(files: Files, *arguments: str) -> str:
    """What git prints. Raises ConfigError where it cannot say."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*_GIT, *arguments, cwd=files.root, stdout=pipe, stderr=pipe)
    printed, complaint = await process.communicate()
    if process.returncode:
        said = complaint.decode("utf-8", "replace").strip()
        raise ConfigError(f"diff_size_limit needs a git repository with a commit in {str(files.root)!r}: {said}")
    return printed.decode("utf-8", "replace")
