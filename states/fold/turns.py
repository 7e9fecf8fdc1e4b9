"""What came of asking the model."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from states.actions import Actions
from states.context import estimate
from states.history import History
from states.messages import AssistantMessage, Call, Finish, Foreign, calls_of, text_of
from states.names import State
from states.output import STRUCTURED_OUTPUT, TASK
from states.records import AssistantTurn, ProviderChange, Trouble, TurnDiscarded, TurnFailure

from .basics import forget_candidate, lose, need, pay
from .prestart import adopt, nothing_ahead


def _assistant_turn(history: History, seq: int, record: AssistantTurn) -> None:
    need(history.state is State.PROVIDER_TURN, seq, f"a turn in {history.state}")
    need(history.closing == 0, seq, "a second end of one activity")
    need(history.unanswered == 0, seq, "a turn while calls are open")
    need(record.saw >= history.last_input, seq, "a turn whose request lacked a committed input")
    need(record.epoch == history.epoch, seq, f"a turn of dead epoch {record.epoch}")
    history.cuts = history.passed_over = history.overflows = 0
    history.overflowing = False
    goes_on = history.turn is not None and history.turn.finish in (Finish.LENGTH, Finish.PAUSED) and not history.calls
    history.carried = history.text if goes_on else ""
    history.cut = goes_on and history.turn is not None and history.turn.finish is Finish.LENGTH
    history.turn, history.turn_seq, history.trouble = record, seq, None
    history.turns += 1
    history.turn_count += 1
    pay(history, record.usage, record.cost, record.model)
    history.require_tool = None
    cut = record.finish is Finish.LENGTH
    blocks = tuple(block for block in record.blocks if not (cut and isinstance(block, Call)))
    calls = calls_of(blocks)
    need(len({call.id for call in calls}) == len(calls), seq, "two calls with one id")
    if calls or text_of(blocks).strip() or any(isinstance(block, Foreign) for block in blocks):
        history.messages.append(AssistantMessage(blocks))
    if record.usage.input:
        history.counted, history.counted_to = record.usage.total, len(history.messages)
        if history.beside is None:
            history.beside = max(0, history.counted - estimate(history.messages))
    history.calls = adopt(history, seq, record, calls)
    history.unanswered = len(calls)
    history.delegated += sum(call.name == TASK for call in calls)
    history.tool_calls += sum(call.name != STRUCTURED_OUTPUT for call in calls)
    if not calls:
        history.actions = Actions()
    forget_candidate(history)


def _turn_failure(history: History, seq: int, record: TurnFailure) -> None:
    need(history.state is State.PROVIDER_TURN, seq, f"a failed turn in {history.state}")
    need(history.closing == 0, seq, "a second end of one activity")
    nothing_ahead(history, seq)
    history.trouble = record
    lose(history, record.spent)
    if record.trouble is Trouble.OVERFLOW:
        history.overflows += 1
        history.overflowing = True
    history.cuts = history.cuts + 1 if record.trouble is Trouble.CUT and history.change is None else 0


def _turn_discarded(history: History, seq: int, record: TurnDiscarded) -> None:
    need(history.state is State.PROVIDER_TURN, seq, f"an epoch ends in {history.state}")
    need(history.unanswered == 0, seq, "an epoch ends with open calls")
    need(record.epoch == history.epoch + 1, seq, f"epoch {history.epoch + 1} is due, not {record.epoch}")
    nothing_ahead(history, seq)
    history.epoch = record.epoch


def _provider_change(history: History, seq: int, record: ProviderChange) -> None:
    need(history.state is State.PROVIDER_TURN, seq, f"another provider in {history.state}")
    need(history.closing == 0, seq, "another provider after the activity has ended")
    need(history.unanswered == 0, seq, "another provider with open calls")
    need(record.epoch == history.epoch + 1, seq, f"epoch {history.epoch + 1} is due, not {record.epoch}")
    need(0 <= record.place < len(history.models), seq, f"the chain has no provider {record.place}")
    need(record.place != history.provider, seq, f"provider {record.place} is asked already")
    need(history.passed_over + 1 < len(history.models), seq, "every provider of the chain was tried")
    history.epoch = record.epoch
    history.provider = record.place
    history.passed_over += 1
    history.change = record


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    AssistantTurn: _assistant_turn,
    TurnFailure: _turn_failure,
    TurnDiscarded: _turn_discarded,
    ProviderChange: _provider_change,
}
