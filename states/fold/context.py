"""What the model still sees after a compaction."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from states.context import boundary, trimmed
from states.history import History
from states.messages import UserMessage
from states.names import RESTING, State
from states.records import Compaction, CompactionFailure

from .basics import need, pay


def _compaction(history: History, seq: int, record: Compaction) -> None:
    need(history.state is State.PROVIDER_TURN or history.state in RESTING, seq, f"a compaction in {history.state}")
    need(history.closing == 0, seq, "a compaction after the activity has ended")
    messages, cut = history.messages, record.dropped
    need(0 <= cut < max(1, len(messages)), seq, f"{cut} of {len(messages)} messages are compacted")
    need(cut == 0 or boundary(messages, cut), seq, "a compaction that parts a call from its result")
    need(bool(cut) is bool(record.summary), seq, "a compaction whose summary stands for nothing, or lacks")
    calls = frozenset(record.trimmed)
    kept = [trimmed(message, calls, record.keep) for message in messages[cut:]]
    messages[:] = [UserMessage(record.summary), *kept] if cut else kept
    history.counted = history.counted_to = history.compaction_failures = 0
    history.compactions += 1
    history.compacted_on = history.turns
    history.overflowing = False
    _paid(history, record)


def _compaction_failure(history: History, seq: int, record: CompactionFailure) -> None:
    history.compaction_failures += 1
    _paid(history, record)


def _paid(history: History, record: Compaction | CompactionFailure) -> None:
    if record.usage.total:
        pay(history, record.usage, record.cost, record.model)


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    Compaction: _compaction,
    CompactionFailure: _compaction_failure,
}
