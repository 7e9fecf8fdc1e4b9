"""What turns the events of one protocol into an answer."""

from typing import Final, Protocol

from states.messages import Usage
from states.ports import CallReady, ReasoningDelta, Reply, TextDelta
from states.records import JSON, Trouble

from .faults import Fault

Delta = TextDelta | ReasoningDelta | CallReady
"""What one event brought. A call is announced once it is complete, as sent; only the protocol can say when."""
Chunk = dict[str, JSON]


MOST_CALLS: Final = 1_000
"""Calls of one answer (our choice: models make some dozens at most)."""
MOST_BLOCKS: Final = 10_000
"""Blocks or items of one answer (our choice: each cited sentence can be one)."""


class Fold(Protocol):
    """One answer under way. Unknown events and members are ignored."""

    @property
    def seen(self) -> bool:
        """Part of an answer came: it may have been shown, so asking again would repeat it."""

    @property
    def pieces(self) -> int:
        """How much of the answer came: it grows as long as the answer does. Asked for rarely."""

    @property
    def usage(self) -> Usage:
        """What was counted so far: nothing, where the provider counts at the end."""

    @property
    def model(self) -> str:
        """The model that answers, as its provider calls it; empty while it has not said."""

    @property
    def whole(self) -> bool:
        """The provider said why it ended; whatever breaks now takes nothing away."""

    @property
    def done(self) -> bool:
        """Nothing that counts follows."""

    def add(self, chunk: Chunk, raw: bytes) -> list[Delta]:
        """Take one event, parsed and as it came. Raises Fault for one that says that the answer failed."""

    def end(self) -> None:
        """`[DONE]` came."""

    def complete(self, body: Chunk) -> list[Delta] | None:
        """Take a whole answer that was not streamed; None if this is none."""

    def reply(self) -> Reply:
        """The whole answer, when the body has ended. Raises Fault if it is not whole."""


def unfinished() -> Fault:
    return Fault(None, "the stream ended before the answer was finished")


def broken(why: str) -> Fault:
    return Fault(None, f"the provider broke the answer off ({why})")


def cut(why: str) -> Fault:
    return Fault(Trouble.CUT, why)


def too_many_calls() -> Fault:
    return cut(f"the answer has more than {MOST_CALLS} calls")


def too_many_blocks() -> Fault:
    return cut(f"the answer has more than {MOST_BLOCKS} parts")
