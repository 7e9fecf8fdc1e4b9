"""Reads the body of a 200: an event stream as asked for, or what servers send instead."""

from collections.abc import Sequence
from typing import Final

import orjson

from states.ports import CallReady, Reply
from states.records import JSON, Trouble

from .faults import Fault, of_event, quoted
from .fold import Delta, Fold, cut
from .sse import MAX_STREAM, Decoder, Event, StreamTooLarge

DONE: Final = b"[DONE]"
FIELDS: Final = (b"data", b"event", b"id", b"retry", b":")
"""How a line of an event stream begins."""


class Answer:
    """One body under way. `feed` takes bytes as they come, `reply` ends it; both raise Fault."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._decoder = Decoder()
        self._start = b""
        self._other: list[bytes] | None = None
        """The pieces of a body that is no event stream."""
        self._size = 0
        self._events = 0

    @property
    def seen(self) -> bool:
        """Part of an answer came."""
        return self._fold.seen

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
            return self._unstreamed(b"".join(self._other))
        try:
            return self._take(self._decoder.end())
        except NotJSON:
            return ()

    def reply(self) -> Reply:
        """The whole answer, when the body has ended."""
        if not self._events and self._start and not self._start.startswith(FIELDS):
            raise _no_completion(self._start)
        return self._fold.reply()

    def _is_other(self, chunk: bytes) -> bool:
        """Whether this is JSON or a web page. Told from the first character: content types lie."""
        if self._other is None:
            if len(self._start) < 1024:
                self._start = (self._start + chunk).lstrip()
            if self._start[:1] not in (b"{", b"[", b"<"):
                return False
            self._other = []
        self._other.append(chunk)
        self._size += len(chunk)
        if self._size > MAX_STREAM:
            raise cut(f"the answer is longer than {MAX_STREAM} bytes")
        return True

    def _take(self, events: list[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        fold = self._fold
        for name, data in events:
            if fold.done:
                break
            if data == DONE:
                fold.end()
                break
            try:
                chunk: JSON = orjson.loads(data)
            except orjson.JSONDecodeError:
                raise NotJSON(None, f"the stream holds a line that is not JSON: {quoted(data)}") from None
            self._events += 1
            if isinstance(chunk, dict):
                if (error := chunk.get("error")) or name == "error":
                    raise of_event(error or chunk)
                deltas += fold.add(chunk, data)
        return _words(deltas) if fold.whole or fold.done else deltas

    def _unstreamed(self, body: bytes) -> list[Delta]:
        """A whole answer in one JSON object."""
        try:
            whole: JSON = orjson.loads(body)
        except orjson.JSONDecodeError:
            whole = None
        if isinstance(whole, dict):
            if error := whole.get("error"):
                raise of_event(error)
            deltas = self._fold.complete(whole)
            if deltas is not None:
                self._events = 1
                return _words(deltas)
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
