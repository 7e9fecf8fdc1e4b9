"""A session of 1,000 turns, killed with its next request under way: from the end of imports to that request again.

CPU is read from Linux's /proc when the request has arrived; wall time holds the neighbours' load too.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .figures import Figure
from .processes import FLOOR_COMMITS, OURS, Bench

TURNS: Final = 1_000
GOAL: Final = 150.0
"""Milliseconds: reading, the fold, the first request at the server."""


def _killed(bench: Bench, client: str) -> Path:
    """A folder with the journal of a process that was killed while the server held its last request."""
    folder = bench.folder / f"killed-{client}"
    folder.mkdir()
    command = bench.command(client, TURNS + 1, folder / "journal.db", hang=True)
    process = subprocess.Popen(command, env=bench.environment)
    bench.arrival()
    process.kill()
    process.wait()
    return folder


def _resumed(bench: Bench, client: str, killed: Path) -> dict[str, Any]:
    """The request that the next process sends, and what it took from the end of its imports."""
    folder = bench.folder / "resumed"
    shutil.copytree(killed, folder)
    command = bench.command(client, TURNS + 1, folder / "journal.db", "--resume", hang=True)
    process = subprocess.Popen([*command, "--announce"], env=bench.environment, stdout=subprocess.PIPE, text=True)
    with process:
        spent, imported = json.loads(process.stdout.readline())
        arrival = bench.arrival()
        cpu = _cpu(process.pid) - spent
        process.kill()
    shutil.rmtree(folder)
    return {**arrival, "wall": (arrival["arrived"] - imported) * 1e3, "cpu": cpu * 1e3}


def _cpu(process: int) -> float:
    """Seconds that its threads have been on a CPU so far."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def measure(bench: Bench, rounds: int) -> Iterator[Figure]:
    for client, goal in ((FLOOR_COMMITS, None), (OURS, GOAL)):
        killed = _killed(bench, client)
        runs = [_resumed(bench, client, killed) for _ in range(rounds + 1)][1:]
        what = f"{client}: imports done to request {TURNS + 1:,}"
        yield Figure(f"{what}, wall", tuple(run["wall"] for run in runs), "ms", goal)
        yield Figure(f"{what}, CPU", tuple(run["cpu"] for run in runs), "ms")
        yield Figure(f"{client}: that request", tuple(run["bytes"] / 1024 for run in runs), "KiB")
