"""files_exist: for each pattern there is at least one file."""

from collections.abc import Mapping

from states.ports import Outside
from states.records import JSON

from .matching import matching
from .observed import Files, Observed, Sight


class FilesExist(Observed):
    name = "files_exist"

    def __init__(self, *patterns: str) -> None:
        """`patterns`: paths or globs, relative to the workspace."""
        self.patterns = patterns

    async def look(self, files: Files, outside: Outside, before: Mapping[str, JSON]) -> Sight:
        paths = await files.paths()
        missing = [pattern for pattern in self.patterns if not matching(paths, [pattern])]
        return Sight(not missing, f"these files have to exist: {', '.join(missing)}")
