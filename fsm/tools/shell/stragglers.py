"""Finds the processes of a command by a mark in their environment, wherever they have moved.

A daemon leaves its process group and its parent, but keeps its environment (Jenkins finds the processes of a build so).
"""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

VARIABLE: Final = "INTERLOCK_COMMAND"
_PROC: Final = Path("/proc")


def stragglers(token: str) -> list[int]:
    """Process ids that carry the token; none where there is no /proc (macOS). Zombies do not count."""
    mark = f"{VARIABLE}={token}".encode()
    found = []
    for entry in _PROC.glob("[0-9]*") if _PROC.is_dir() else ():
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:  # gone, or somebody else's
            continue
        if mark in environment.split(b"\0"):
            found.append(int(entry.name))
    return found


def send(number: signal.Signals, group: int, processes: list[int]) -> None:
    """Signal a process group and further processes; those that are gone are no concern."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
