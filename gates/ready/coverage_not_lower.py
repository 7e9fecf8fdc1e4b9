"""coverage_not_lower: the coverage that the project's report tells is not below what it told when the run started.

It reads the report and runs nothing: the report has to be written by a check that the run owes.
"""

import re
from collections.abc import Mapping

import orjson

from states.ports import Outside
from states.records import JSON

from .observed import Files, Observed, Sight


class CoverageNotLower(Observed):
    name = "coverage_not_lower"

    def __init__(self, report: str = "coverage.json", *, tolerance: float = 0.0) -> None:
        """`report`: coverage.py's JSON or a Cobertura XML file. `tolerance`: percentage points that may be lost."""
        self.report, self.tolerance = report, tolerance

    async def remember(self, files: Files) -> Mapping[str, JSON]:
        return {"percent": self._percent(files)}

    async def look(self, files: Files, outside: Outside, before: Mapping[str, JSON]) -> Sight:
        now, old = self._percent(files), before.get("percent")
        if now is None:
            return Sight(False, f"{self.report} tells no coverage; run the tests with coverage so that they write it")
        held = not isinstance(old, float) or now >= old - self.tolerance
        return Sight(held, f"coverage fell from {old:.2f} to {now:.2f} percent" if isinstance(old, float) else "")

    def _percent(self, files: Files) -> float | None:
        try:
            text = (files.root / self.report).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        if self.report.endswith(".xml"):
            rate = re.search(r"<coverage\b[^>]*\bline-rate=\"([0-9.]+)\"", text)
            return float(rate[1]) * 100 if rate else None
        try:
            return float(orjson.loads(text)["totals"]["percent_covered"])
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return None
