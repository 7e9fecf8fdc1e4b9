"""How full the model's window is, and what can be taken out of it: pure functions of what is committed.

Nothing is cut inside a turn: a call stays with its result, and what a paused provider goes on with stays whole.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from .history import History
from .messages import AssistantMessage, Call, Message, Reasoning, Text, ToolMessage
from .records import Cause
from .shorten import shortened

HINT_AT: Final = 0.7
COMPACT_AT: Final = 0.8
"""Shares of the usable window at which the model is told, and at which the conversation is compacted (blade-code's)."""
KEPT: Final = 0.2
"""Share of the usable window that the newest turns may keep (blade-code's share of messages)."""
KEPT_UNKNOWN: Final = 8000
"""The same in tokens where the window is not known (OpenCorvus' upper bound)."""
ENOUGH: Final = 0.6
"""Share of the usable window below which trimmed output is enough (our choice: well below `HINT_AT`)."""
WORTH: Final = 1500
"""Tokens that must be gained for a compaction that nobody asked for (OpenCorvus' lower bound)."""
WORTH_SHARE: Final = 0.05
"""The same as a share of the usable window: a large prompt must not bring a ledger at every turn (our choice)."""
TRIM: Final = 1000
"""Characters kept of an old tool output (our choice: what a command said first and last)."""
TRIM_NEW: Final = 4000
"""Characters kept of a tool output of the newest turns, where a request did not or would not fit (our choice)."""
BYTES: Final = 4
"""Bytes of UTF-8 that count as one token (OpenAI's rule of thumb), until a provider has counted."""
MESSAGE: Final = 5
"""Tokens that a message costs beside its words (claw-code's estimate)."""
IMAGE: Final = 1600
"""Tokens of a picture (OpenCorvus' estimate)."""


@attrs.frozen
class Plan:
    """What a compaction does: the first `cut` messages go, outputs of the calls in `trim` are shortened to `keep`."""

    cut: int
    trim: tuple[str, ...] = ()
    keep: int = 0


def usable(context: int, reserve: int | None = None) -> int:
    """Tokens of a context window that a request may fill: without room for the answer.

    By default a tenth of the window is left for it, at least 8,192 and at most 32,768 (blade-code's bounds), but never
    more than a quarter.
    """
    room = min(max(context // 10, 8192), 32768, context // 4) if reserve is None else reserve
    return context - room


def estimate(messages: Iterable[Message]) -> int:
    """Tokens of messages that no provider has counted."""
    return sum(MESSAGE + _words(message) // BYTES + _pictures(message) * IMAGE for message in messages)


def _words(message: Message) -> int:
    if not isinstance(message, AssistantMessage):
        return _bytes(message.text)
    total = 0
    for block in message.blocks:
        match block:
            case Text(text=text):
                total += _bytes(text)
            case Call(name=name, arguments=arguments):
                total += _bytes(name) + _bytes(arguments)
            case Reasoning(text=text, opaque=opaque):
                total += _bytes(opaque or text)
            case _:
                total += _bytes(block.opaque)
    return total


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _pictures(message: Message) -> int:
    return len(message.images) if isinstance(message, ToolMessage) else 0


def tokens_of(history: History) -> int:
    """Tokens of the next request: what the provider counted last, and an estimate of what has come since."""
    if history.counted:
        return history.counted + estimate(history.messages[history.counted_to :])
    return max(history.beside or 0, _bytes(history.system) // BYTES) + estimate(history.messages)


def due(history: History) -> Cause | None:
    """Why the conversation has to be compacted before the model is asked; None: it need not, or nothing is gained."""
    if history.overflowing:
        return Cause.OVERFLOW if plan(history, Cause.OVERFLOW) else None
    if history.window is None or tokens_of(history) < COMPACT_AT * history.window:
        return None
    return Cause.THRESHOLD if plan(history, Cause.THRESHOLD) else None


def plan(history: History, cause: Cause) -> Plan | None:
    """What a compaction would do now; None where it would gain nothing."""
    messages, window, scale = history.messages, history.window, _scale(history)
    cut = _cut(history, cause, scale)
    fits = cause is not Cause.OVERFLOW
    if cause is Cause.THRESHOLD and window is not None:
        worth = max(WORTH, WORTH_SHARE * window)
        old = _long(messages[:cut], TRIM)
        gain = scale * (estimate(old) - len(old) * TRIM // BYTES)
        if gain >= worth and tokens_of(history) - gain <= ENOUGH * window:
            return Plan(0, tuple(message.call_id for message in old), TRIM)
        cut = cut if scale * estimate(messages[:cut]) >= worth else 0
        fits = tokens_of(history) < window
    new = [] if fits else _long(messages[cut:], TRIM_NEW)
    return Plan(cut, tuple(message.call_id for message in new), TRIM_NEW) if cut or new else None


def _scale(history: History) -> float:
    """How much more than by estimate a message takes, by what the provider counted."""
    return max(1.0, (tokens_of(history) - (history.beside or 0)) / max(1, estimate(history.messages)))


def _cut(history: History, cause: Cause, scale: float) -> int:
    """Where the kept tail begins: the first boundary after which all fits, at the latest that of the last turn.

    After a request that did not fit nobody knows what would, and it is sent only once more: the last turn alone stays.
    One message is not worth a note that would repeat it: 0 where nothing else stands before the last turn.
    """
    messages = history.messages
    last = max((at for at, message in enumerate(messages) if isinstance(message, AssistantMessage)), default=0)
    places = [place for place in range(2, last + 1) if boundary(messages, place)]
    if cause is Cause.OVERFLOW or not places:
        return places[-1] if places else 0
    room = (KEPT_UNKNOWN if history.window is None else KEPT * history.window) / scale
    if cause is Cause.ASKED:
        room = min(room, estimate(messages) // 2)
    found, kept, end = places[-1], 0, len(messages)
    for place in reversed(places):
        kept += estimate(messages[place:end])
        if kept > room:
            break
        found = end = place
    return found


def boundary(messages: Sequence[Message], place: int) -> bool:
    """Whether the conversation can be cut before this message: no call is parted from its result."""
    if isinstance(messages[place], ToolMessage):
        return False
    return not (isinstance(messages[place], AssistantMessage) and isinstance(messages[place - 1], AssistantMessage))


def _long(messages: Iterable[Message], keep: int) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage) and is_long(message, keep)]


def is_long(message: ToolMessage, keep: int) -> bool:
    """Whether trimming it to `keep` characters gains anything."""
    return len(shortened(message.text, keep)) < len(message.text) or bool(message.images)


def trimmed(message: Message, calls: frozenset[str], keep: int) -> Message:
    """The message, its output shortened if it answers one of `calls`."""
    if not isinstance(message, ToolMessage) or message.call_id not in calls:
        return message
    return attrs.evolve(message, text=shortened(message.text, keep), images=())
