"""Syncs of a tool turn: what a longer run syncs more than a shorter one, over the turns that it has more."""

from collections.abc import Iterator
from typing import Final

from .figures import Figure
from .processes import OURS, Bench

GOAL: Final = 2.0
SHORT, LONG = 10, 110


def measure(bench: Bench, rounds: int) -> Iterator[Figure]:
    counts = [[bench.run(OURS, turns, "--syncs")["syncs"] for turns in (SHORT, LONG)] for _ in range(min(rounds, 2))]
    slopes = tuple((long - short) / (LONG - SHORT) for short, long in counts)
    yield Figure("syncs of a tool turn", slopes, "", GOAL)
    yield Figure(f"syncs of a whole run of {SHORT} turns, opening and closing included", tuple(c[0] for c in counts))
