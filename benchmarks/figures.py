"""A figure with its goal: as a row of a Markdown table, and as a line of JSON in `results/`."""

import json
import os
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import attrs

RESULTS: Final = Path(__file__).parent / "results"


@attrs.frozen
class Figure:
    """`values` are single runs, or ratios within one round; the median stands for them. `goal` is its upper bound."""

    what: str
    values: tuple[float, ...]
    unit: str = ""
    goal: float | None = None

    @property
    def value(self) -> float:
        return statistics.median(self.values)

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return f"{'met' if self.value <= self.goal else 'MISSED'} (at most {self.goal:g})"

    def row(self) -> str:
        spread = f"{min(self.values):,.3g} to {max(self.values):,.3g}" if len(self.values) > 1 else ""
        return f"| {self.what} | {_short(self.value)} {self.unit} | {spread} | {self.verdict} |"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"


def publish(name: str, figures: Iterable[Figure]) -> None:
    """Print the table, and add a line for each figure to `results/NAME.jsonl`."""
    shown = list(figures)
    RESULTS.mkdir(exist_ok=True)
    at, load = time.time(), os.getloadavg()[0]
    with (RESULTS / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        for figure in shown:
            line = {"at": at, "load": load, "median": figure.value, **attrs.asdict(figure)}
            file.write(json.dumps(line) + "\n")
    table = table_of(name, shown, load)
    (RESULTS / f"{name}.md").write_text(table, encoding="utf-8")
    print(table, flush=True)


def table_of(name: str, figures: Sequence[Figure], load: float) -> str:
    head = f"\n### {name} (load {load:.1f})\n\n| figure | median | single runs | goal |\n|---|---|---|---|\n"
    return head + "\n".join(figure.row() for figure in figures) + "\n"
