"""Real processes in tests: who is alive, and the process ids that a command writes down."""

import time
from pathlib import Path


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
