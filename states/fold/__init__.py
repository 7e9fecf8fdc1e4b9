"""The fold: how each record changes what is known of a session.

`apply` costs O(1) per record, does no I/O and reads no clock. Records that contradict what came before are
refused by name: a journal that this fold accepts has spent no evidence twice and answered no call twice.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from states.errors import HistoryError
from states.history import History
from states.names import RESTING
from states.records import CLOSING, Entry, RunStarted

from . import calls, context, delegation, goals, hooks, judgement, moves, prestart, runs, sessions, turns, verification
from .moves import GO_ON

__all__ = ["GO_ON", "apply", "fold"]

_APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    **runs.APPLY,
    **turns.APPLY,
    **prestart.APPLY,
    **context.APPLY,
    **calls.APPLY,
    **hooks.APPLY,
    **goals.APPLY,
    **delegation.APPLY,
    **judgement.APPLY,
    **moves.APPLY,
    **sessions.APPLY,
    **verification.APPLY,
}


def fold(session: str, entries: list[Entry]) -> History:
    """The history that `entries` leave, from the first on."""
    history = History(session)
    for entry in entries:
        apply(history, entry)
    return history


def apply(history: History, entry: Entry) -> None:
    """Add one entry. Raises HistoryError, and history is then worthless."""
    if entry.seq != history.seq + 1:
        raise HistoryError(f"record {entry.seq} of {history.session}: {history.seq + 1} is due")
    if history.started is None and not isinstance(entry.record, RunStarted):
        raise HistoryError(f"record {entry.seq} of {history.session}: it comes before any run")
    if entry.fence == history.fence and history.state not in RESTING:
        history.seconds += max(0.0, entry.at - history.at)
    history.seq, history.at, history.fence = entry.seq, entry.at, entry.fence
    _APPLY[type(entry.record)](history, entry.seq, entry.record)
    event = CLOSING.get(type(entry.record))
    if event is not None:
        history.closing, history.closing_event = entry.seq, event
        history.unspent.add(entry.seq)
