"""What is known of a session as a whole."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from states.history import History
from states.names import RESTING
from states.records import Forked, Titled, Undone

from .basics import need, say


def _forked(history: History, seq: int, record: Forked) -> None:
    need(record.at == seq - 1 > 0, seq, f"a fork at record {record.at}, where {seq - 1} records were copied")
    need(history.closing == 0, seq, "a fork between what happened and its move")
    history.forked = record
    history.children = {}  # agents that the origin called answer to the origin
    for state in history.open_calls():
        state.elsewhere = state.intent is not None
        if state.intent is None:
            state.asked, state.approval = False, None


def _titled(history: History, seq: int, record: Titled) -> None:
    history.title = record.title


def _undone(history: History, seq: int, record: Undone) -> None:
    need(history.state in RESTING, seq, f"something is undone in {history.state}")
    named = ", ".join(change.path for change in record.files)
    if named:
        say(history, f"A person has undone changes: these files are again as they were earlier: {named}.")


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    Forked: _forked,
    Titled: _titled,
    Undone: _undone,
}
