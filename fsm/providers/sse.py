"""Bytes to server-sent events, by the WHATWG rules where they matter and lenient where servers are sloppy."""

import re
from typing import Final

MAX_EVENT: Final = 16 * 2**20
"""Bytes of one event that are held at most (our choice: no model sends a single delta of that size)."""
MAX_STREAM: Final = 64 * 2**20
"""Bytes of one answer that are read at most (our choice)."""
_BOM: Final = b"\xef\xbb\xbf"
_PLAIN: Final = re.compile(rb"(?:\A|(?<=\n\n))(?:event: ([^\n]*)\n)?data: ([^\s][^\n]*)(?:\n\n|\Z)")
"""A whole event as nearly every server writes it."""

Event = tuple[bytes, bytes]
"""(name, data). The name is empty unless the server gave one."""


class StreamTooLarge(Exception):
    """The far side sent more than is ever held; the message says which limit."""


class Decoder:
    """Feed it whatever the network gave, in any pieces; lines may end in LF, CRLF or CR.

    Comments, `id` and `retry` are skipped, and so are events without data. Raises StreamTooLarge.
    """

    def __init__(self, max_event: int = MAX_EVENT, max_stream: int = MAX_STREAM) -> None:
        self._max_event = max_event
        self._max_stream = max_stream
        self._total = 0
        self._held = bytearray()
        """The event that is not complete yet, in one buffer: pieces of a byte each would take sixty times the room."""
        self._after_cr = False
        self._first = True

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that are complete now."""
        self._total += len(chunk)
        if self._total > self._max_stream:
            raise StreamTooLarge(f"the answer is longer than {self._max_stream} bytes")
        if self._after_cr or b"\r" in chunk:
            chunk = self._line_feeds(chunk)
        end = chunk.rfind(b"\n\n")
        if end < 0 and not (chunk[:1] == b"\n" and self._held[-1:] == b"\n"):
            self._hold(chunk)
            return []
        if self._held:
            chunk = bytes(self._held + chunk)
            self._held.clear()
            end = chunk.rfind(b"\n\n")
        if end + 2 < len(chunk):
            self._hold(chunk[end + 2 :])
        return self._events(chunk[:end])

    def end(self) -> list[Event]:
        """The last event, if the server closed without the blank line that ends it."""
        rest = bytes(self._held)
        self._held.clear()
        return self._events(rest)

    def _events(self, block: bytes) -> list[Event]:
        if self._first and block:
            self._first = False
            block = block.removeprefix(_BOM)
        plain: list[Event] = _PLAIN.findall(block)
        if len(plain) == block.count(b"\n\n") + 1:
            return plain  # each event is one match, all of it
        found: list[Event] = []
        for event in block.split(b"\n\n"):
            _by_line(event, found)
        return found

    def _hold(self, chunk: bytes) -> None:
        self._held += chunk
        if len(self._held) > self._max_event:
            raise StreamTooLarge(f"one event of the answer is longer than {self._max_event} bytes")

    def _line_feeds(self, chunk: bytes) -> bytes:
        """The chunk with every line end as LF. A CRLF may be split between two chunks."""
        if self._after_cr and chunk[:1] == b"\n":
            chunk = chunk[1:]
            self._after_cr = False
        if chunk:
            self._after_cr = chunk[-1:] == b"\r"
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _by_line(event: bytes, found: list[Event]) -> None:
    name = b""
    data: list[bytes] = []
    for line in event.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    payload = b"\n".join(data).strip()
    if payload:
        found.append((name, payload))
