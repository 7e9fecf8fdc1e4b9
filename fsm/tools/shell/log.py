"""What a background command prints: the newest of it in memory, all of it in a file that outlives the process."""

import codecs
import threading
from collections import deque
from pathlib import Path
from typing import Final, TextIO

import attrs

from fsm.tools.limits import HALF, mark, output_path

from .capture import SAVED

KEPT: Final = 2 * HALF
"""Characters kept in memory for a reader who comes late: what one result can show."""


@attrs.frozen
class News:
    """Text since the last look. `missed` characters before it are no longer in memory."""

    text: str
    missed: int


class Log:
    """Written by the thread that watches the command, read by the calls that ask for it.

    `key` names the file in `directory`; without one (a full disk) the command runs on all the same.
    """

    def __init__(self, directory: Path, key: str) -> None:
        self.total = 0
        """Characters printed so far."""
        self.path: Path | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._recent: deque[str] = deque()
        self._size = 0
        self._read = 0
        self._lock = threading.Lock()
        self._file = self._open(directory, key)

    def feed(self, chunk: bytes, *, final: bool = False) -> None:
        text = self._decoder.decode(chunk, final).replace("\0", "\\x00")
        with self._lock:
            self.total += len(text)
            self._recent.append(text)
            self._size += len(text)
            while self._size - len(self._recent[0]) >= KEPT:
                self._size -= len(self._recent.popleft())
            self._write(text)

    def close(self) -> None:
        self.feed(b"", final=True)
        if self._file:
            self._file.close()
            self._file = None

    def said(self) -> str:
        """What is in memory."""
        with self._lock:
            return "".join(self._recent)

    def news(self) -> News:
        """What was printed since the last call of this method, the newest 99,000 characters of it."""
        with self._lock:
            fresh = self.total - self._read
            self._read = self.total
            text = "".join(self._recent)[-fresh:][-KEPT:] if fresh else ""
            return News(text, fresh - len(text))

    def shown(self) -> str:
        """The news as text, with a mark where something is missing."""
        news = self.news()
        return (mark(news.missed, self.total, self.path) if news.missed else "") + news.text

    def _open(self, directory: Path, key: str) -> TextIO | None:
        try:
            self.path = output_path(directory, key)
            return self.path.open("w", encoding="utf-8", newline="")
        except OSError:
            self.path = None
            return None

    def _write(self, text: str) -> None:
        try:
            if self._file and self.total <= SAVED:
                self._file.write(text)
                self._file.flush()
        except OSError:  # a full disk: what is there is not the whole
            self.path, self._file = None, None
