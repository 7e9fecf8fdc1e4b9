"""How a run moves, rests and ends."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from states.history import History
from states.messages import AssistantMessage, UserMessage
from states.names import RESTING, State
from states.records import Cancellation, Failed, Interruption, Resumed, Summary, Suspended, Transition

from .basics import lose, need, pay, say
from .prestart import nothing_ahead

GO_ON: Final = "The run was interrupted and is resumed. Go on from where it stopped."


def _transition(history: History, seq: int, record: Transition) -> None:
    need(record.source is history.state, seq, f"a move from {record.source} while in {history.state}")
    need(record.event is history.closing_event, seq, f"a move on {record.event}, which did not happen")
    need(history.closing in record.rests_on, seq, "a move that does not rest on what happened")
    spent = sorted(set(record.rests_on) - history.unspent)
    need(not spent, seq, f"evidence {spent} is spent or no evidence")
    history.state = record.target
    history.unspent.clear()
    history.closing, history.closing_event = 0, None
    history.change = None
    if record.target is not State.SUSPENDED:
        history.rest = None
    if record.target is State.SUCCEEDED and history.goal is not None and history.pursues_goal:
        history.goal = attrs.evolve(history.goal, complete=True)


def _cancellation(history: History, seq: int, record: Cancellation) -> None:
    need(history.state not in RESTING, seq, f"a cancellation in {history.state}")
    nothing_ahead(history, seq)
    history.noted = max(history.noted, record.inbox or 0)
    need(record.spent is None or history.state is State.PROVIDER_TURN, seq, f"an answer given up in {history.state}")
    lose(history, record.spent)
    history.closing = 0  # whatever the activity had reported, the cancellation is what happened last


def _failed(history: History, seq: int, record: Failed) -> None:
    history.failure = record


def _suspended(history: History, seq: int, record: Suspended) -> None:
    history.rest, history.summary = record, record.summary


def _summary(history: History, seq: int, record: Summary) -> None:
    need(history.state is State.SUSPENDED and history.closing_event is None, seq, f"a summary in {history.state}")
    history.summary = record.text
    pay(history, record.usage, record.cost, record.model)


def _resumed(history: History, seq: int, record: Resumed) -> None:
    need(history.state is State.SUSPENDED, seq, f"resumed in {history.state}")
    history.overflowing = False
    history.passed_over = history.cuts = history.overflows = 0  # whoever resumes it thinks that it may work now
    if history.messages and isinstance(history.messages[-1], AssistantMessage) and not history.unanswered:
        say(history, GO_ON)  # a request that ends in the model's own words asks for nothing


def _interruption(history: History, seq: int, record: Interruption) -> None:
    need(history.state not in RESTING, seq, f"an interruption in {history.state}")
    last = (history.held or history.messages)[-1:]
    if last != [UserMessage(GO_ON)]:  # lost again before the model was reached: it is told once
        say(history, GO_ON)


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    Transition: _transition,
    Cancellation: _cancellation,
    Failed: _failed,
    Suspended: _suspended,
    Summary: _summary,
    Resumed: _resumed,
    Interruption: _interruption,
}
