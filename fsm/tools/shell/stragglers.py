"""Finds and signals the processes of a command, wherever they have moved.

A daemon leaves its process group and its parent, but it stays below the command's supervisor (see `keeper`), and mostly
it keeps its environment (Jenkins finds the processes of a build so).
"""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress

from .keeper import VARIABLE, descendants
from .keeper import marked as stragglers

__all__ = ["VARIABLE", "descendants", "send", "stragglers"]


def send(number: signal.Signals, group: int, processes: Iterable[int]) -> None:
    """Signal a process group (0: none) and further processes; those that are gone are no concern."""
    with suppress(ProcessLookupError, PermissionError):
        if group:
            os.killpg(group, number)
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
