"""Reads the body of a 200: an event stream as asked for, or what servers send instead."""

from typing import Final

import orjson

from states.ports import Reply
from states.records import JSON, Trouble

from .accumulate import BROKEN, Accumulator, Delta
from .faults import Fault, of_event, quoted
from .sse import MAX_STREAM, Decoder, Event, StreamTooLarge

DONE: Final = b"[DONE]"
FIELDS: Final = (b"data", b"event", b"id", b"retry", b":")
"""How a line of an event stream begins."""


class Answer:
    """One body under way. `feed` takes bytes as they come, `reply` ends it; both raise Fault."""

    def __init__(self) -> None:
        self.done = False
        """Nothing that counts follows."""
        self._fold = Accumulator()
        self._decoder = Decoder()
        self._start = b""
        self._other: list[bytes] | None = None
        """The pieces of a body that is no event stream."""
        self._size = 0
        self._chunks = 0

    @property
    def seen(self) -> bool:
        """Part of an answer came."""
        return self._fold.seen

    @property
    def whole(self) -> bool:
        """The provider said why it ended; whatever breaks now takes nothing away."""
        return bool(self._fold.finish) and self._fold.finish not in BROKEN

    def feed(self, chunk: bytes) -> list[Delta]:
        if not self._chunks and self._is_other(chunk):
            return []
        try:
            return self._take(self._decoder.feed(chunk))
        except StreamTooLarge as error:
            raise Fault(Trouble.CUT, str(error)) from None

    def rest(self) -> list[Delta]:
        """What the end of the body completes. Half a line at the end of a broken stream is nothing."""
        if self._other is not None:
            return self._unstreamed(b"".join(self._other))
        try:
            return self._take(self._decoder.end())
        except NotJSON:
            return []

    def reply(self) -> Reply:
        """The whole answer, when the body has ended."""
        if self._fold.finish in BROKEN:
            raise Fault(None, f"the provider broke the answer off ({self._fold.finish})")
        if self._fold.finish or (self.done and self._chunks):
            return self._fold.reply()
        if not self._chunks and self._start and not self._start.startswith(FIELDS):
            raise _no_completion(self._start)
        raise Fault(None, "the stream ended before the answer was finished")

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
            raise Fault(Trouble.CUT, f"the answer is longer than {MAX_STREAM} bytes")
        return True

    def _take(self, events: list[Event]) -> list[Delta]:
        deltas: list[Delta] = []
        for name, data in events:
            if self.done:
                break
            if data == DONE:
                self.done = True
                break
            try:
                chunk: JSON = orjson.loads(data)
            except orjson.JSONDecodeError:
                raise NotJSON(None, f"the stream holds a line that is not JSON: {quoted(data)}") from None
            self._chunks += 1
            if isinstance(chunk, dict):
                if (error := chunk.get("error")) or name == "error":
                    raise of_event(error or chunk)
                deltas += self._fold.add(chunk)
        return deltas

    def _unstreamed(self, body: bytes) -> list[Delta]:
        """A whole completion in one JSON object."""
        try:
            completion: JSON = orjson.loads(body)
        except orjson.JSONDecodeError:
            completion = None
        if isinstance(completion, dict):
            if error := completion.get("error"):
                raise of_event(error)
            if completion.get("choices"):
                self.done, self._chunks = True, 1
                return self._fold.add(completion)
        raise _no_completion(body)


class NotJSON(Fault):
    """A line of the stream that cannot be read."""


def _no_completion(body: bytes) -> Fault:
    return Fault(
        Trouble.REFUSED,
        f"the server answered with something that is no chat completion; check the base URL. It says: {quoted(body)}",
    )
