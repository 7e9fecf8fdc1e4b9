"""One writer for each file of this process: sessions that change the same file do it one after the other.

Other processes are kept apart by the replacement itself, which is atomic and refuses a file that has changed meanwhile.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import attrs

from fsm.tools.context import ToolError

WAIT: Final = 0.05
"""Seconds between looks at a cancellation while another call writes (our choice)."""


@attrs.define
class _Line:
    lock: threading.Lock = attrs.field(factory=threading.Lock)
    users: int = 0


_LINES: Final[dict[str, _Line]] = {}
_GUARD: Final = threading.Lock()


@contextmanager
def alone(path: Path, cancelled: Callable[[], bool]) -> Iterator[None]:
    """Nobody else of this process writes the file meanwhile, by whichever name. Raises ToolError if stopped first."""
    with suppress(ValueError):  # a name that is none is refused where it is used
        path = Path(os.path.realpath(path))
    name = str(path)
    with _GUARD:
        line = _LINES.setdefault(name, _Line())
        line.users += 1
    try:
        while not line.lock.acquire(timeout=WAIT):
            if cancelled():
                raise ToolError(f"stopped while it waited for another call that writes {path.name!r}. Not started.")
        try:
            yield
        finally:
            line.lock.release()
    finally:
        with _GUARD:
            line.users -= 1
            if not line.users:
                del _LINES[name]
