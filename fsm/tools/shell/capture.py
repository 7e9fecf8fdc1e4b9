"""Keeps what a command prints: beginning and end in memory, the whole in a file once it gets long."""

import codecs
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

from fsm.tools.limits import HALF, mark, output_path

SAVED: Final = 64 * 1024 * 1024
"""Characters of an output that are saved in the file: our choice; a flood must not fill the disk."""
_LINE: Final = 1_000
"""Characters after which a line that does not end is shown all the same."""


class Capture:
    """Bytes in, text out. `show` gets whole lines as they come; `key` names the file in `directory`."""

    def __init__(self, show: Callable[[str], None], directory: Path, key: str) -> None:
        self.total = 0
        """Characters printed so far."""
        self.kept: Path | None = None
        self._show = show
        self._directory, self._key = directory, key
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._line = ""
        self._file: TextIO | None = None

    def feed(self, chunk: bytes, *, final: bool = False) -> None:
        text = self._decoder.decode(chunk, final).replace("\0", "\\x00")
        self._lines(text, final=final)
        before, self.total = self.total, self.total + len(text)
        if self.total > 2 * HALF and before <= 2 * HALF:
            self._spill()
        if self._file and before < SAVED:
            self._write(text)
        room = HALF - len(self._head)
        self._head += text[:room]
        if rest := text[room:]:
            self._tail.append(rest)
            self._tail_size += len(rest)
            while self._tail_size - len(self._tail[0]) >= HALF:
                self._tail_size -= len(self._tail.popleft())

    def close(self) -> str:
        """The text, with a mark where its middle is missing."""
        self.feed(b"", final=True)
        if self._file:
            self._file.close()
        tail = "".join(self._tail)[-HALF:]
        left_out = self.total - len(self._head) - len(tail)
        return self._head + (mark(left_out, self.total, self.kept) if left_out else "") + tail

    def _spill(self) -> None:
        try:
            self.kept = output_path(self._directory, self._key)
            self._file = self.kept.open("w", encoding="utf-8", newline="")
        except OSError:  # the command's result matters more than its copy
            self.kept = None
            return
        self._write(self._head + "".join(self._tail))

    def _write(self, text: str) -> None:
        try:
            if self._file:
                self._file.write(text)
        except OSError:  # a full disk: what is there is not the whole
            self.kept, self._file = None, None

    def _lines(self, text: str, *, final: bool) -> None:
        *whole, self._line = (self._line + text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if self._line and (final or len(self._line) > _LINE):
            whole.append(self._line)
            self._line = ""
        for line in whole:
            if line:
                self._show(line)
