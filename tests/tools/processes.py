"""Real processes in tests: who is alive, and the process ids that a command writes down."""

import sys
import time
from pathlib import Path

import pytest

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a subreaper is Linux's")
HIDDEN = (
    "(env -i setsid bash -c '(setsid bash -c \"echo \\$\\$ > new; mv new pids; exec sleep 1000\" &)'"
    " </dev/null >/dev/null 2>&1 &); until [ -s pids ]; do sleep 0.01; done; "
)
"""Leaves behind what a build tool's daemon is: no child of anybody's, a session of its own, and none of our marks."""


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie that nobody has collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(*pids: int, seconds: float = 10) -> bool:
    """Whether all of them end within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(map(alive, pids)):
            return True
        time.sleep(0.01)
    return False


def pids_in(root: Path, count: int) -> list[int]:
    """Process ids that a command writes into `pids`, as soon as they are all there."""
    path = root / "pids"
    end = time.monotonic() + 10
    while time.monotonic() < end:
        found = path.read_text().split() if path.exists() else []
        if len(found) == count:
            return [int(pid) for pid in found]
        time.sleep(0.01)
    raise AssertionError(f"only {found}")


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
