"""Runs a regular expression in a process of its own, because `re` cannot be interrupted and holds the GIL."""

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import attrs

from .grep_worker import BAD_PATTERN, FULL, HEADER

_WORKER: Final = Path(__file__).with_name("grep_worker.py")
_POLL: Final = 0.05


@attrs.frozen
class Matches:
    """`lines` that were found, `note` if there may be more, `error` if the pattern is none."""

    lines: list[str]
    note: str = ""
    error: str = ""


class Matcher:
    """Feed it files, then ask what was found. After `seconds`, or when `stopped` says so, it is killed."""

    def __init__(self, pattern: str, seconds: float, stopped: Callable[[], bool]) -> None:
        self._found = tempfile.TemporaryFile()  # noqa: SIM115  # closed in __exit__
        self._process = subprocess.Popen(  # noqa: S603  # our own script
            [sys.executable, "-I", "-S", str(_WORKER), pattern], stdin=subprocess.PIPE, stdout=self._found
        )
        self._seconds = seconds
        self._stopped = stopped
        self._watch = threading.Thread(target=self._guard, daemon=True)
        self._over = threading.Event()
        self._killed = False

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._close()
        self._process.wait()
        self._over.set()
        self._watch.join()
        self._found.close()

    def feed(self, name: str, content: bytes) -> bool:
        """False if it wants no more."""
        label = name.encode()
        stdin = self._process.stdin
        if stdin is None:
            return False
        try:
            stdin.write(HEADER.pack(len(label), len(content)) + label + content)
        except BrokenPipeError:
            return False
        return True

    def finish(self) -> Matches:
        self._close()
        code = self._process.wait()
        self._found.seek(0)
        lines = self._found.read().decode().splitlines()
        if code == BAD_PATTERN:
            return Matches([], error=lines[0])
        if code == FULL:
            return Matches(lines, "[there are more matches; narrow the pattern or the path]")
        if self._killed:
            return Matches(lines, f"[stopped after {self._seconds:g} s: there may be more; simplify the pattern]")
        return Matches(lines)

    def _close(self) -> None:
        try:
            if self._process.stdin:
                self._process.stdin.close()
        except BrokenPipeError:
            pass

    def _guard(self) -> None:
        end = time.monotonic() + self._seconds
        while self._process.poll() is None:
            if time.monotonic() > end or self._stopped():
                self._killed = True
                self._process.kill()
                return
            self._over.wait(_POLL)
