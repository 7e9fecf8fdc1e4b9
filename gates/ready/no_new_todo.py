"""no_new_todo: no line says TODO (or another mark) that did not say so when the run started."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from states.ports import Outside
from states.records import JSON

from .matching import matching
from .observed import Files, Observed, Sight

LARGEST: Final = 1 << 20
"""Bytes of a file that is read (our choice: larger ones are data)."""


class NoNewTodo(Observed):
    name = "no_new_todo"

    def __init__(self, *patterns: str, marks: tuple[str, ...] = ("TODO", "FIXME", "XXX")) -> None:
        """`patterns`: where to look (by default everywhere). `marks`: words, as they stand."""
        self.patterns = patterns or ("**",)
        self._mark = re.compile(rf"\b(?:{'|'.join(map(re.escape, marks))})\b")

    async def remember(self, files: Files) -> Mapping[str, JSON]:
        return dict(await self._lines(files))

    async def look(self, files: Files, outside: Outside, before: Mapping[str, JSON]) -> Sight:
        now = await self._lines(files)
        fresh = [line for line, count in now.items() if count > _number(before.get(line))]
        return Sight(not fresh, f"nothing may be left for later; these lines are new: {' | '.join(fresh[:10])}")

    async def _lines(self, files: Files) -> Counter[str]:
        """Marked lines and how often each stands: a line that moves is no new one."""
        found: Counter[str] = Counter()
        for path in matching(await files.paths(), self.patterns):
            whole = files.root / path
            try:
                text = whole.read_text(encoding="utf-8") if whole.stat().st_size <= LARGEST else ""
            except (OSError, UnicodeDecodeError):
                continue
            found.update(line.strip() for line in text.splitlines() if self._mark.search(line))
        return found


def _number(value: JSON) -> int:
    return value if isinstance(value, int) else 0
