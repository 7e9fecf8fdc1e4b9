"""What three 100 ms reads cost in wall time and in syncs, started while their answer still streams, or after it."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

import orjson

from .figures import Figure
from .processes import Bench
from .reads import READS

TURNS: Final = 10
LATENCY: Final = 0.1
"""Seconds of one read."""
GOAL: Final = 10.0
"""Milliseconds of wall time that a turn with such reads may take longer than one whose reads take none."""


def _run(bench: Bench, latency: float, *flags: str) -> dict[str, Any]:
    journal = bench.folder / "reads.db"
    command = [sys.executable, "-m", "benchmarks.reads", "--journal", str(journal), "--turns", str(TURNS)]
    command += ["--latency", str(latency), *flags]
    done = subprocess.run(command, env=bench.environment, capture_output=True, text=True, check=False)
    for file in bench.folder.glob("reads.db*"):
        if file.is_file():
            file.unlink()
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return orjson.loads(done.stdout)


def measure(bench: Bench, rounds: int) -> Iterator[Figure]:
    _run(bench, 0.0)  # warms up
    found = [
        (_run(bench, 0.0), _run(bench, LATENCY), _run(bench, LATENCY, "--prestart")) for _ in range(rounds)
    ]  # within a round, so that a neighbour's load meets all three
    later = tuple((after["wall"] - none["wall"]) / TURNS * 1e3 for none, after, _ in found)
    early = tuple((ahead["wall"] - none["wall"]) / TURNS * 1e3 for none, _, ahead in found)
    yield Figure("wall of a turn beyond its stream, three 100 ms reads after it", later, "ms")
    yield Figure("wall of a turn beyond its stream, the same reads started early", early, "ms", GOAL)
    beyond = tuple((ahead["syncs"] - after["syncs"]) / TURNS for _, after, ahead in found)
    yield Figure("syncs of a turn more than without an early start", beyond, "", READS)
    yield Figure("syncs of a turn, started early", tuple(ahead["syncs"] / TURNS for _, _, ahead in found))
