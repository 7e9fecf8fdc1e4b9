"""CPU of `import fsm` next to `import httpx`, each in new processes, and which modules it goes to."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

from .figures import Figure
from .processes import Bench

GOAL: Final = 2.5
SLOWEST: Final = 8
"""Modules that are named."""
HTTPX: Final = "import httpx"
OURS: Final = "import fsm"
WHOLE: Final = "from fsm import Loop, tool; from fsm.providers import OpenAIChat"


def _cpu(bench: Bench, code: str) -> float:
    """Milliseconds, the interpreter's own start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], env=bench.environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def _slowest(bench: Bench, code: str) -> list[tuple[str, float]]:
    """Modules that took longest themselves, in milliseconds."""
    command = [sys.executable, "-X", "importtime", "-c", code]
    said = subprocess.run(command, env=bench.environment, check=True, capture_output=True, text=True).stderr
    rows = [line.removeprefix("import time:").split("|") for line in said.splitlines() if "self [us]" not in line]
    found = [(name.strip(), int(own) / 1e3) for own, _, name in rows]
    return sorted(found, key=lambda row: -row[1])[:SLOWEST]


def measure(bench: Bench, rounds: int) -> Iterator[Figure]:
    codes = ("pass", HTTPX, OURS, WHOLE)
    runs = [[_cpu(bench, code) for code in codes] for _ in range(3 * rounds + 1)][1:]
    for code, values in zip(codes, zip(*runs, strict=True), strict=True):
        yield Figure(f"`{code}`", values, "ms")
    yield Figure(f"`{OURS}`, times `{HTTPX}`", tuple(ours / httpx for _, httpx, ours, _ in runs), "x", GOAL)
    bare = tuple((ours - python) / (httpx - python) for python, httpx, ours, _ in runs)
    yield Figure("the same without the interpreter's own start", bare, "x", GOAL)
    for name, own in _slowest(bench, OURS):
        yield Figure(f"of it, `{name}`", (own,), "ms")
