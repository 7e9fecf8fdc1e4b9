"""files_unchanged: what fits the patterns is as it was when the run started: nothing changed, added or removed."""

import hashlib
from collections.abc import Mapping

from states.ports import Outside
from states.records import JSON

from .matching import matching
from .observed import Files, Observed, Sight


class FilesUnchanged(Observed):
    name = "files_unchanged"

    def __init__(self, *patterns: str) -> None:
        """`patterns`: paths or globs, relative to the workspace."""
        self.patterns = patterns

    async def remember(self, files: Files) -> Mapping[str, JSON]:
        return {path: _digest(files, path) for path in matching(await files.paths(), self.patterns)}

    async def look(self, files: Files, outside: Outside, before: Mapping[str, JSON]) -> Sight:
        now = await self.remember(files)
        different = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
        return Sight(not different, f"these files must stay as they were: {', '.join(different[:20])}")


def _digest(files: Files, path: str) -> str:
    try:
        return hashlib.sha256((files.root / path).read_bytes()).hexdigest()
    except OSError as error:
        return f"unreadable ({error.strerror})"
