"""What a started server says on standard error: the last lines, for the day that it dies."""

import os
import threading
from collections import deque
from typing import Final, TextIO

KEPT: Final = 20
"""Lines kept: enough for the end of a traceback."""
_LINE: Final = 500


class LastWords:
    """`file` is the server's standard error. A thread reads it, so that the server never waits for us."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=KEPT)
        reading, writing = os.pipe()
        self._read = os.fdopen(reading, encoding="utf-8", errors="backslashreplace")
        self.file: TextIO = os.fdopen(writing, "w")
        self._thread = threading.Thread(target=self._collect, name="interlock-mcp-stderr", daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def _collect(self) -> None:
        with self._read:
            while line := self._read.readline(_LINE):
                self._lines.append(line.rstrip())

    def close(self) -> None:
        """Give up our end: the pipe ends when the server's last process has closed its own."""
        self.file.close()

    def join(self, seconds: float = 1.0) -> None:
        """Wait until all of it is read; not for ever, should something that the server started live on."""
        self._thread.join(seconds)
