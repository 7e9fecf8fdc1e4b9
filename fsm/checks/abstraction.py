"""Which histories are the same for the table: the facts that gates, activities and the fold can tell apart.

Numbers that only grow (sequence numbers, turns, epochs) are left out or capped; what a gate reads of a turn that is
over is left out. `tests/checks/test_abstraction.py` shows on explored histories that equal keys have equal futures.
"""

from collections.abc import Hashable
from typing import Final

import attrs

from gates.actions_progress import HALT
from gates.text_is_new import RETRIES, SAME
from states.context import plan
from states.fallback import CUTS
from states.history import CallState, History
from states.messages import AssistantMessage, Finish, ToolMessage
from states.names import ENDS, Event, State
from states.output import STRUCTURED_OUTPUT
from states.records import Cause
from states.verdicts import Pass, Ruling

from .claims import UNFINISHED, refused, spent
from .world import ANNOUNCED, REPEATED

EPOCHS: Final = 1
"""Beyond the first discarded turn epochs differ in their number only."""


@attrs.frozen
class View:
    """What one search tells apart beyond what every search does.

    `counted`: the gate whose retries are kept. `repeats`: how often the same was said. `epochs`: whether there is an
    older epoch, from which something may come late.
    """

    counted: str | None = None
    repeats: bool = False
    epochs: bool = True
    context: bool = True
    """Whether it is kept what became of requests that did not fit."""
    still: bool = False
    """Whether it is kept how long the model has stood still, with the same calls and results."""


def key_of(history: History, view: View) -> Hashable:
    """Equal for histories that the search need not tell apart."""
    retries = history.retries[view.counted] if view.counted else 0
    judged = history.unanswered or history.closing_event is Event.REPLIED
    over = history.state in ENDS or (history.state in (State.PROVIDER_TURN, State.SUSPENDED) and not judged)
    last = history.messages[-1] if history.messages else None
    return (
        history.state,
        history.closing_event,
        spent(history),
        history.inputs_answered,
        view.epochs and min(history.epoch, EPOCHS),
        history.goal and (history.goal.paused, history.goal.complete),
        len(history.held) > 0,
        isinstance(last, AssistantMessage) + 2 * isinstance(last, ToolMessage),
        retries,
        view.repeats and _sameness(history),
        history.output and (history.output_of_turn, history.output.accepted.revision),
        view.still and min(history.actions.still, HALT + 1),
        tuple(asked.waits_for for asked in history.questions),
        history.rest and history.rest.waits_for,
        history.failure and history.failure.code,
        history.trouble and history.closing_event is Event.TURN_FAILED and history.trouble.trouble,
        history.state is State.PROVIDER_TURN and _chain(history),
        view.context and _context(history),
        () if over else _turn(history),
        tuple(early.record.arguments for early in history.early.values()),
        over and history.state not in ENDS and _carried(history),
        () if over else _judgement(history),
    )


def _chain(history: History) -> Hashable:
    """Who was tried since the last good turn; whether one more answer that breaks off is one too many."""
    left = len(history.models) - 1 - history.passed_over
    return left, history.change is not None, left > 0 and min(history.cuts, CUTS - 1)


def _context(history: History) -> Hashable:
    """Whether a request that does not fit is compacted, or ends the run, now or after more turns."""
    asking = history.state is State.PROVIDER_TURN
    over = asking and (min(history.overflows, 2), history.overflowing)
    return over, plan(history, Cause.OVERFLOW) is not None, len(history.messages) > 1


def _sameness(history: History) -> Hashable:
    """Other texts than these are never said twice."""
    if history.last_text not in (REPEATED, "") or not history.same_text:
        return None
    return history.last_text, min(history.same_text, SAME * (RETRIES + 1))


def _turn(history: History) -> Hashable:
    if history.turn is None:
        return None
    calls = tuple(_call(state) for state in history.calls.values())
    ended = history.state is State.PROVIDER_TURN or history.turn.finish in UNFINISHED
    words = not calls and (bool(history.text.strip()), history.text == REPEATED, history.text.endswith(ANNOUNCED))
    only_output = bool(calls) and {state.call.name for state in history.calls.values()} == {STRUCTURED_OUTPUT}
    return ended and history.turn.finish, words, calls, only_output


def _carried(history: History) -> Hashable:
    """What the next turn goes on with, if the last one did not come to its end."""
    turn = history.turn
    goes_on = turn is not None and turn.finish in (Finish.LENGTH, Finish.PAUSED) and not history.calls
    return goes_on and bool(history.text.strip())


def _call(state: CallState) -> Hashable:
    if state.result is not None:
        return "answered"
    return (
        state.call.name,
        state.call.arguments == "{oops" or (state.call.name == STRUCTURED_OUTPUT and state.call.arguments),
        state.intent is not None,
        state.prestarted,
        state.asked,
        state.approval and state.approval.granted,
        tuple((said.outcome, said.arguments) for said in state.hooks),
    )


def _cited(ruling: Ruling) -> tuple[int, ...]:
    return ruling.cites if isinstance(ruling, Pass) else ()


def _judgement(history: History) -> Hashable:
    """Candidate, evidence, verification, seal and receipt, by what they say about each other."""
    now = history.verification.revision if history.verification else None
    shown = tuple((item.kinds, item.exit_status == 0, item.revision == now) for item in history.evidence.values())
    words = tuple(
        (name, said.judgement, said.revision == now, bool(said.unavailable))
        for name, (_, said) in history.opinions.items()
    )
    passed = frozenset((name, type(ruling)) for name, (_, ruling) in history.verdicts.items())
    receipt = history.receipt
    named = receipt and (
        receipt.candidate == history.candidate,
        receipt.revision == now,
        bool(receipt.goal),
        tuple(name for name, (seq, _) in history.verdicts.items() if seq in receipt.verdicts),
        {seq for _, ruling in history.verdicts.values() for seq in _cited(ruling)} <= set(receipt.evidence),
    )
    seen = tuple((name, found.revision) for name, (_, found) in history.findings.items())
    asked = history.state is State.STOP_HOOK and history.closing == 0 and bool(history.stop_hooks)
    stops = asked, refused(history), history.stopped_on not in ("", now)
    return history.candidate > 0, now, shown, words, seen, stops, history.stop_answer is not None, passed, named
