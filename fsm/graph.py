"""THE table. Every move a run can make is a row here, and no other file names a destination.

Rows of one (source, event) are tried in order; the first whose guards all hold is taken. A row toward success
names every gate that must pass, so no order of rows can lead around one. Whoever reads this file from top to
bottom has read the diagram.
"""

from typing import Final, Self

import attrs

from gates.actions_progress import actions_progress
from gates.budget_left import budget_left
from gates.calls_permitted import calls_permitted
from gates.checks_passed import checks_passed
from gates.context_fits import context_fits
from gates.facts import (
    asks_for_tools,
    calls_answered,
    calls_open,
    hands_in_output,
    intents_committed,
    output_handed_in,
    says_done,
    work_goes_on,
)
from gates.final_has_text import final_has_text
from gates.gate import Asked, Gate, Guard
from gates.goal_met import goal_met
from gates.independently_verified import independently_verified
from gates.inputs_answered import inputs_answered, late_inputs_answered
from gates.intent_carried_out import intent_carried_out
from gates.on_course import on_course
from gates.output_accepted import output_accepted, output_correctable
from gates.plan_handed_over import plan_handed_over
from gates.provider_answers import provider_answers
from gates.provider_kept import provider_kept
from gates.questions_answered import questions_answered
from gates.receipt_holds import ReceiptHolds
from gates.stop_allowed import stop_allowed
from gates.text_is_new import text_is_new
from gates.tools_work import tools_work
from gates.turn_ended import turn_ended
from gates.turn_unfiltered import turn_unfiltered
from gates.turn_whole import turn_whole
from gates.window_left import window_left
from states.errors import ConfigError
from states.names import RUNNING, Event, State
from states.verdicts import Fail, Pass, Retry, Suspend


@attrs.frozen(cache_hash=True)  # compiled graphs are looked up by the whole table at every move
class Row:
    source: State
    event: Event
    guards: tuple[Guard, ...]
    target: State


Graph = tuple[Row, ...]

PROVIDER_TURN, DISPATCH_TOOLS, AWAIT_RESULTS = State.PROVIDER_TURN, State.DISPATCH_TOOLS, State.AWAIT_RESULTS
CANDIDATE_FINAL, VERIFY, STOP_HOOK, FINALIZE = State.CANDIDATE_FINAL, State.VERIFY, State.STOP_HOOK, State.FINALIZE
SUCCEEDED, FAILED, SUSPENDED = State.SUCCEEDED, State.FAILED, State.SUSPENDED

Gates = tuple[Gate, ...]
AT_CANDIDATE: Final[Gates] = (
    inputs_answered,
    plan_handed_over,
    output_accepted,
    final_has_text,
    text_is_new,
    intent_carried_out,
)
AT_VERIFY: Final[Gates] = (independently_verified, checks_passed)
AT_STOP: Final[Gates] = (stop_allowed, late_inputs_answered, goal_met)
JUDGED: Final = (CANDIDATE_FINAL, VERIFY, STOP_HOOK)
"""Where a candidate is judged, in this order."""


class Table(tuple[Row, ...]):
    """A graph that can be added to. It is its rows and nothing else; adding makes another one."""

    __slots__ = ()

    def with_gate(self, gate: Gate, state: State | str, *, before: Gate | str | None = None) -> Self:
        """With one more completion gate in `state`, asked before the gate `before`, or after all others there.

        Success then needs its pass, and the receipt names it. Raises ConfigError for a name that is taken, and for a
        state or a gate that is not there.
        """
        place = _judged(state)
        present = self.gates_of(place)
        name = before.name if isinstance(before, Gate) else before
        names = [known.name for known in present]
        if gate.name in {guard.gate.name for row in self for guard in row.guards if isinstance(guard, Asked)}:
            raise ConfigError(f"the table has a gate {gate.name!r} already; give yours another name")
        if name is not None and name not in names:
            raise ConfigError(f"no gate {name!r} is asked in {place}; there are: {', '.join(names) or 'none'}")
        index = len(present) if name is None else names.index(name)
        return self._asking(place, (*present[:index], gate, *present[index:]))

    def gates_of(self, state: State | str) -> Gates:
        """The completion gates that are asked in `state`, in their order."""
        onward = _onward(self, _judged(state))
        return tuple(guard.gate for guard in onward.guards if isinstance(guard, Asked))

    def _asking(self, state: State, gates: Gates) -> Self:
        """The same rows, with these completion gates in `state`, and a last gate that asks for all of them."""
        onward = _onward(self, state)
        old = [row for gate in self.gates_of(state) for row in _objections(onward.source, onward.event, gate)]
        rest = [row for row in self if row not in old]
        place = rest.index(onward)
        facts = tuple(guard for guard in onward.guards if not isinstance(guard, Asked))
        asked = Row(onward.source, onward.event, (*facts, *(gate.passes for gate in gates)), onward.target)
        objections = [row for gate in gates for row in _objections(onward.source, onward.event, gate)]
        rows = [*rest[:place], *objections, asked, *rest[place + 1 :]]
        required = [*(known for at in JUDGED for known in (gates if at is state else self.gates_of(at)))]
        return type(self)(_with_receipt(rows, ReceiptHolds(required)))


def _judged(state: State | str) -> State:
    if state not in JUDGED:
        raise ConfigError(f"completion gates are asked in {', '.join(JUDGED)}, not in {str(state)!r}")
    return State(state)


def _onward(graph: Graph, state: State) -> Row:
    """The row on which a judged candidate moves on."""
    for row in graph:
        asked = [guard for guard in row.guards if isinstance(guard, Asked)]
        if row.source is state and asked and all(guard.kind is Pass for guard in asked):
            return row
    raise ConfigError(f"no row of this table leads a judged candidate on from {state}")


def _with_receipt(rows: list[Row], receipt_holds: ReceiptHolds) -> Graph:
    def swapped(guard: Guard) -> Guard:
        ours = isinstance(guard, Asked) and isinstance(guard.gate, ReceiptHolds)
        return attrs.evolve(guard, gate=receipt_holds) if ours and isinstance(guard, Asked) else guard

    return tuple(attrs.evolve(row, guards=tuple(swapped(guard) for guard in row.guards)) for row in rows)


def table(at_candidate: Gates = AT_CANDIDATE, at_verify: Gates = AT_VERIFY, at_stop: Gates = AT_STOP) -> Table:
    """The table, with these completion gates in this order: their order is part of the contract."""
    receipt_holds = ReceiptHolds((*at_candidate, *at_verify, *at_stop))
    moving, heard = (actions_progress.passes, output_correctable.passes), questions_answered.passes
    hinting = (tools_work.passes, on_course.passes, window_left.passes)
    on_settled = (*moving, heard, budget_left.passes, *hinting, work_goes_on)
    whole = (turn_whole.passes, turn_ended.passes, turn_unfiltered.passes)
    return Table(
        (
            *again(PROVIDER_TURN, Event.REPLIED, turn_whole),
            Row(PROVIDER_TURN, Event.REPLIED, (turn_whole.fails,), FAILED),
            *again(PROVIDER_TURN, Event.REPLIED, turn_ended),
            Row(PROVIDER_TURN, Event.REPLIED, (turn_ended.fails,), FAILED),
            Row(PROVIDER_TURN, Event.REPLIED, (turn_unfiltered.fails,), FAILED),
            Row(PROVIDER_TURN, Event.REPLIED, (*whole, asks_for_tools, budget_left.suspends), SUSPENDED),
            Row(PROVIDER_TURN, Event.REPLIED, (*whole, asks_for_tools, budget_left.passes), DISPATCH_TOOLS),
            Row(PROVIDER_TURN, Event.REPLIED, (*whole, hands_in_output), DISPATCH_TOOLS),
            Row(PROVIDER_TURN, Event.REPLIED, (*whole, says_done), CANDIDATE_FINAL),
            *again(PROVIDER_TURN, Event.TURN_FAILED, context_fits),
            Row(PROVIDER_TURN, Event.TURN_FAILED, (context_fits.fails,), FAILED),
            *again(PROVIDER_TURN, Event.TURN_FAILED, provider_kept),
            *again(PROVIDER_TURN, Event.TURN_FAILED, provider_answers),
            Row(PROVIDER_TURN, Event.TURN_FAILED, (provider_answers.suspends,), SUSPENDED),
            Row(PROVIDER_TURN, Event.TURN_FAILED, (provider_answers.fails,), FAILED),
            Row(DISPATCH_TOOLS, Event.DISPATCHED, (calls_permitted.suspends,), SUSPENDED),
            Row(DISPATCH_TOOLS, Event.DISPATCHED, (calls_permitted.passes, intents_committed), AWAIT_RESULTS),
            Row(AWAIT_RESULTS, Event.SETTLED, (actions_progress.fails,), FAILED),
            Row(AWAIT_RESULTS, Event.SETTLED, (actions_progress.passes, output_correctable.fails), FAILED),
            Row(AWAIT_RESULTS, Event.SETTLED, (*moving, questions_answered.suspends), SUSPENDED),
            Row(AWAIT_RESULTS, Event.SETTLED, (*moving, heard, output_handed_in), CANDIDATE_FINAL),
            Row(AWAIT_RESULTS, Event.SETTLED, (*moving, heard, budget_left.suspends, work_goes_on), SUSPENDED),
            Row(AWAIT_RESULTS, Event.SETTLED, on_settled, PROVIDER_TURN),
            *through(CANDIDATE_FINAL, Event.SUBMITTED, at_candidate, VERIFY),
            *through(VERIFY, Event.VERIFIED, at_verify, STOP_HOOK),
            *through(STOP_HOOK, Event.ANSWERED, at_stop, FINALIZE),
            *through(FINALIZE, Event.FINALIZED, (receipt_holds,), SUCCEEDED),
            *(Row(state, Event.COMMIT_FAILED, (), FAILED) for state in RUNNING),
            *(Row(state, Event.CANCELLED, (), SUSPENDED) for state in RUNNING),
            Row(SUSPENDED, Event.RESUMED, (questions_answered.suspends,), SUSPENDED),
            Row(SUSPENDED, Event.RESUMED, (heard, budget_left.suspends), SUSPENDED),
            Row(SUSPENDED, Event.RESUMED, (heard, budget_left.passes, calls_open), DISPATCH_TOOLS),
            Row(SUSPENDED, Event.RESUMED, (heard, budget_left.passes, calls_answered), PROVIDER_TURN),
        )
    )


def through(source: State, event: Event, gates: Gates, target: State) -> Graph:
    """Gates in order, each with a row per objection it may raise; only if all pass does the run move on."""
    objections = (row for gate in gates for row in _objections(source, event, gate))
    return (*objections, Row(source, event, tuple(gate.passes for gate in gates), target))


def _objections(source: State, event: Event, gate: Gate) -> Graph:
    back = again(source, event, gate) if Retry in gate.may else ()
    end = (Row(source, event, (gate.fails,), FAILED),) if Fail in gate.may else ()
    rest = (Row(source, event, (gate.suspends,), SUSPENDED),) if Suspend in gate.may else ()
    return (*back, *end, *rest)


def again(source: State, event: Event, gate: Gate) -> Graph:
    """A gate that sends the run back to the model, as far as the budget goes."""
    return (
        Row(source, event, (gate.retries, budget_left.suspends), SUSPENDED),
        Row(source, event, (gate.retries, budget_left.passes), PROVIDER_TURN),
    )


GRAPH: Final = table()


def default_graph() -> Table:
    """The table as it is; put your own gates in with `with_gate`."""
    return GRAPH
