"""CPU and wall time of a turn, and how it grows, next to the floors: rounds are interleaved, ratios within a round."""

from collections.abc import Iterator
from typing import Any, Final

from .figures import Figure
from .processes import FLOOR, FLOOR_COMMITS, OURS, Bench

CLIENTS: Final = (FLOOR, FLOOR_COMMITS, OURS)
LENGTHS: Final = (10, 100, 400, 1_000)
LONGEST: Final = max(LENGTHS)
RATIO: Final = 2.0
"""CPU of a turn against the floor without a store."""
GROWTH: Final = 1.3
"""CPU of the last tenth of 1,000 turns against the first, without what the growing request costs the floor too."""

_CPU, _WALL = 0, 1
Run = dict[str, Any]


def per_turn(run: Run, clock: int) -> float:
    """Milliseconds, from the first tool call to the end: imports and the first connection are outside."""
    marks = run["marks"]
    return (run["ended"][clock] - marks[0][clock]) / len(marks) * 1e3


def tenths(run: Run) -> tuple[float, float]:
    """CPU milliseconds of a turn in the first and in the last tenth."""
    marks = [mark[_CPU] for mark in run["marks"]]
    size = len(marks) // 10
    return (marks[size] - marks[0]) / size * 1e3, (marks[-1] - marks[-1 - size]) / size * 1e3


def measure(bench: Bench, rounds: int) -> Iterator[Figure]:
    runs: dict[tuple[str, int], list[Run]] = {(client, turns): [] for client in CLIENTS for turns in LENGTHS}
    for number in range(rounds + 1):
        for turns in LENGTHS:
            for client in CLIENTS[number % 3 :] + CLIENTS[: number % 3]:
                if number or turns == min(LENGTHS):  # round 0 only warms up
                    run = bench.run(client, turns)
                    if number:
                        runs[client, turns].append(run)
    for turns in LENGTHS:
        yield from _of_length(turns, {client: runs[client, turns] for client in CLIENTS})
    yield from _growth(runs[FLOOR, LONGEST], runs[OURS, LONGEST])
    yield Figure("peak memory, 1,000 turns", tuple(run["peak_kib"] / 1024 for run in runs[OURS, LONGEST]), "MiB")


def _of_length(turns: int, runs: dict[str, list[Run]]) -> Iterator[Figure]:
    for client, found in runs.items():
        yield Figure(f"{turns:,} turns, {client}: CPU of a turn", tuple(per_turn(run, _CPU) for run in found), "ms")
        yield Figure(f"{turns:,} turns, {client}: wall of a turn", tuple(per_turn(run, _WALL) for run in found), "ms")
    for floor, goal in ((FLOOR, RATIO if turns >= 100 else None), (FLOOR_COMMITS, None)):
        pairs = list(zip(runs[OURS], runs[floor], strict=True))
        cpu = tuple(per_turn(ours, _CPU) / per_turn(its, _CPU) for ours, its in pairs)
        wall = tuple(per_turn(ours, _WALL) / per_turn(its, _WALL) for ours, its in pairs)
        yield Figure(f"{turns:,} turns: CPU, times {floor}", cpu, "x", goal)
        yield Figure(f"{turns:,} turns: wall, times {floor}", wall, "x")


def _growth(floor: list[Run], ours: list[Run]) -> Iterator[Figure]:
    pairs = [(tenths(its), tenths(mine)) for its, mine in zip(floor, ours, strict=True)]
    yield Figure("1,000 turns, floor: CPU, last tenth / first tenth", tuple(f[1] / f[0] for f, _ in pairs), "x")
    yield Figure("1,000 turns, interlock: CPU, last tenth / first tenth", tuple(o[1] / o[0] for _, o in pairs), "x")
    beyond = tuple((o[1] - (f[1] - f[0])) / o[0] for f, o in pairs)
    yield Figure("1,000 turns, interlock: the same without the floor's own growth", beyond, "x", GROWTH)
