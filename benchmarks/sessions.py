"""100 sessions of 10 turns each at once in one process, next to the floors with a client for each session."""

from collections.abc import Iterator
from typing import Any, Final

from .figures import Figure
from .processes import FLOOR, FLOOR_COMMITS, OURS, Bench

SESSIONS: Final = 100
TURNS: Final = 10
CLIENTS: Final = (FLOOR, FLOOR_COMMITS, OURS)


def _took(run: dict[str, Any], clock: int) -> float:
    return run["ended"][clock] - run["begun"][clock]


def measure(bench: Bench, rounds: int) -> Iterator[Figure]:
    runs: dict[str, list[dict[str, Any]]] = {client: [] for client in CLIENTS}
    for _ in range(rounds):
        for client in CLIENTS:
            runs[client].append(bench.run(client, TURNS, "--sessions", str(SESSIONS)))
    whole = SESSIONS * TURNS
    for client in CLIENTS:
        yield Figure(f"{client}: turns a second", tuple(whole / _took(run, 1) for run in runs[client]))
        yield Figure(f"{client}: CPU of a turn", tuple(_took(run, 0) / whole * 1e3 for run in runs[client]), "ms")
    for floor in (FLOOR, FLOOR_COMMITS):
        pairs = list(zip(runs[OURS], runs[floor], strict=True))
        yield Figure(f"CPU, times {floor}", tuple(_took(ours, 0) / _took(its, 0) for ours, its in pairs), "x")
        yield Figure(f"wall, times {floor}", tuple(_took(ours, 1) / _took(its, 1) for ours, its in pairs), "x")
