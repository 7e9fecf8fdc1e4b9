"""Reads the body of a 200: an event stream as asked for, or what servers send instead."""

from collections.abc import Sequence
from typing import Final

from states.messages import Usage
from states.ports import CallReady, Reply
from states.records import Trouble

from .faults import Fault, of_event, quoted
from .fold import Delta, Fold, cut
from .halves import Halves, mended
from .json_in import NotReadable, Reader
from .sse import MAX_EVENT, MAX_STREAM, Decoder, Event, StreamTooLarge

DONE: Final = b"[DONE]"
FIELDS: Final = (b"data", b"event", b"id", b"retry", b":")
"""How a line of an event stream begins."""


class Answer:
    """One body under way. `feed` takes bytes as they come, `reply` ends it; both raise Fault."""

    def __init__(self, fold: Fold, max_event: int = MAX_EVENT, max_stream: int = MAX_STREAM) -> None:
        self._fold = fold
        self._decoder = Decoder(max_event, max_stream)
        self._largest = max_event
        self._start = b""
        self._other: bytearray | None = None
        """A body that is no event stream."""
        self._events = False
        self._reader = Reader()
        self._halves = Halves()

    @property
    def seen(self) -> bool:
        """Part of an answer came."""
        return self._fold.seen

    @property
    def pieces(self) -> int:
        """How much of the answer came: it grows as long as the answer does."""
        return self._fold.pieces

    @property
    def usage(self) -> Usage:
        """What was counted so far."""
        return self._fold.usage

    @property
    def model(self) -> str:
        return self._fold.model

    @property
    def whole(self) -> bool:
        """The provider said why it ended; whatever breaks now takes nothing away."""
        return self._fold.whole

    @property
    def done(self) -> bool:
        """Nothing that counts follows."""
        return self._fold.done

    def feed(self, chunk: bytes) -> Sequence[Delta]:
        if not self._events and self._is_other(chunk):
            return ()
        try:
            return self._take(self._decoder.feed(chunk))
        except StreamTooLarge as error:
            raise cut(str(error)) from None

    def rest(self) -> Sequence[Delta]:
        """What the end of the body completes. Half a line at the end of a broken stream is nothing."""
        if self._other is not None:
            return self._unstreamed(bytes(self._other))
        try:
            return self._take(self._decoder.end())
        except NotJSON:
            return ()

    def reply(self) -> Reply:
        """The whole answer, when the body has ended."""
        if not self._events and self._start and not self._start.startswith(FIELDS):
            raise _no_completion(self._start)
        reply = self._fold.reply()
        return mended(reply) if self._reader.lenient else reply

    def _is_other(self, chunk: bytes) -> bool:
        """Whether this is JSON or a web page. Told from the first character: content types lie."""
        if self._other is None:
            if len(self._start) < 1024:
                self._start = (self._start + chunk).lstrip()
            if self._start[:1] not in (b"{", b"[", b"<"):
                return False
            self._other = bytearray()
        self._other += chunk
        if len(self._other) > self._largest:
            raise cut(f"the answer is longer than {self._largest} bytes, and is no stream")
        return True

    def _take(self, events: list[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        fold, read, add = self._fold, self._reader.read, self._fold.add
        for name, data in events:
            if fold.done:
                break
            if data.startswith(DONE):
                fold.end()
                break
            try:
                chunk = read(data)
            except NotReadable as unreadable:
                raise NotJSON(None, f"the stream holds a line that is {unreadable}: {quoted(data)}") from None
            self._events = True
            if isinstance(chunk, dict):
                if name == b"error" or chunk.get("error"):
                    raise of_event(chunk.get("error") or chunk)
                deltas += add(chunk, data)
        if self._reader.lenient:
            deltas = self._halves.joined(deltas)
        return _words(deltas) if fold.whole or fold.done else deltas

    def _unstreamed(self, body: bytes) -> list[Delta]:
        """A whole answer in one JSON object."""
        try:
            whole = self._reader.read(body)
        except NotReadable:
            whole = None
        if isinstance(whole, dict):
            if error := whole.get("error"):
                raise of_event(error)
            deltas = self._fold.complete(whole)
            if deltas is not None:
                self._events = True
                return self._halves.joined(deltas)
        raise _no_completion(body)


def _words(deltas: list[Delta]) -> list[Delta]:
    """Without calls: the Reply is next, so nothing is gained by one that starts before it."""
    return [delta for delta in deltas if not isinstance(delta, CallReady)]


class NotJSON(Fault):
    """A line of the stream that cannot be read."""


def _no_completion(body: bytes) -> Fault:
    return Fault(
        Trouble.REFUSED,
        f"the server answered with something that is no answer of this protocol; check the base URL. It says: "
        f"{quoted(body)}",
    )
