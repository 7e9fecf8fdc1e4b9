"""Calls that run ahead of their turn: adopted by it, or dropped before anything else can happen."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from states.errors import HistoryError
from states.history import CallState, Early, History
from states.messages import Call, Finish
from states.names import State
from states.records import AssistantTurn, Prestart, PrestartsDropped

from .basics import need

NOT_RUN: Final = (Finish.LENGTH, Finish.FILTERED)
"""Ends of a turn whose calls are never run."""


def _prestart(history: History, seq: int, record: Prestart) -> None:
    need(history.state is State.PROVIDER_TURN, seq, f"a call starts ahead in {history.state}")
    need(history.closing == 0 and history.unanswered == 0, seq, "a call starts ahead of a turn that is there")
    need(record.epoch == history.epoch, seq, f"an intent of dead epoch {record.epoch}")
    need(record.order == len(history.early), seq, "intents out of the model's order")
    need(record.call == history.call_id(record.order), seq, f"{record.call!r} is no call of the turn to come")
    need(all(early.fence == history.fence for early in history.early.values()), seq, "calls of a lost process are open")
    history.early[record.call] = Early(seq, history.fence, record)


def _dropped(history: History, seq: int, record: PrestartsDropped) -> None:
    need(history.state is State.PROVIDER_TURN, seq, f"an epoch ends in {history.state}")
    need(history.closing == 0, seq, "calls are dropped after the end of their turn")
    need(record.epoch == history.epoch + 1, seq, f"epoch {history.epoch + 1} is due, not {record.epoch}")
    known = [early.intent for early in history.early.values()]
    need(bool(known) and [fate.intent for fate in record.fates] == known, seq, f"calls {known} run ahead, not these")
    history.epoch = record.epoch
    history.early = {}


def nothing_ahead(history: History, seq: int) -> None:
    """Whatever ends a turn without adopting the calls that run ahead of it has to drop them first."""
    if history.early:
        raise HistoryError(f"record {seq}: {', '.join(history.early)} started ahead of a turn that does not come")


def adopt(history: History, seq: int, turn: AssistantTurn, calls: tuple[Call, ...]) -> dict[str, CallState]:
    """The calls of a committed turn, with the intents of those that started ahead of it."""
    early, history.early = history.early, {}
    if early:
        need(turn.finish not in NOT_RUN, seq, "a turn whose calls are not run adopts some")
        need(set(early) <= {call.id for call in calls}, seq, "the turn lacks a call that started ahead of it")
    return {call.id: _adopted(history, seq, call, order, early.get(call.id)) for order, call in enumerate(calls)}


def _adopted(history: History, seq: int, call: Call, order: int, early: Early | None) -> CallState:
    if early is None:
        return CallState(call, order)
    known = early.record
    need(early.fence == history.fence, seq, "a turn adopts calls of a lost process")
    need((known.name, known.order) == (call.name, order), seq, f"{call.id!r} started ahead as another call")
    return CallState(
        call, order, early.intent, early.fence, known.arguments, read_only=True, shared=True, prestarted=True
    )


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    Prestart: _prestart,
    PrestartsDropped: _dropped,
}
