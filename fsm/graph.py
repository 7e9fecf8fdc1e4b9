"""THE table. Every move a run can make is a row here, and no other file names a destination.

Rows of one (source, event) are tried in order; the first whose guards all hold is taken. A row toward success
names every gate that must pass, so no order of rows can lead around one. Whoever reads this file from top to
bottom has read the diagram.
"""

from typing import Final

import attrs

from gates.budget_left import budget_left
from gates.calls_permitted import calls_permitted
from gates.checks_passed import checks_passed
from gates.facts import asks_for_tools, calls_answered, calls_open, intents_committed, says_done
from gates.final_has_text import final_has_text
from gates.gate import Gate, Guard
from gates.inputs_answered import inputs_answered, late_inputs_answered
from gates.provider_answers import provider_answers
from gates.receipt_holds import ReceiptHolds
from gates.text_is_new import text_is_new
from gates.turn_ended import turn_ended
from gates.turn_unfiltered import turn_unfiltered
from gates.turn_whole import turn_whole
from states.names import RUNNING, Event, State
from states.verdicts import Fail, Retry, Suspend


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
AT_CANDIDATE: Final[Gates] = (inputs_answered, final_has_text, text_is_new)
AT_VERIFY: Final[Gates] = (checks_passed,)
AT_STOP: Final[Gates] = (late_inputs_answered,)


def table(at_candidate: Gates = AT_CANDIDATE, at_verify: Gates = AT_VERIFY, at_stop: Gates = AT_STOP) -> Graph:
    """The table, with these completion gates in this order: their order is part of the contract."""
    receipt_holds = ReceiptHolds((*at_candidate, *at_verify, *at_stop))
    whole = (turn_whole.passes, turn_ended.passes, turn_unfiltered.passes)
    return (
        *again(PROVIDER_TURN, Event.REPLIED, turn_whole),
        Row(PROVIDER_TURN, Event.REPLIED, (turn_whole.fails,), FAILED),
        *again(PROVIDER_TURN, Event.REPLIED, turn_ended),
        Row(PROVIDER_TURN, Event.REPLIED, (turn_ended.fails,), FAILED),
        Row(PROVIDER_TURN, Event.REPLIED, (turn_unfiltered.fails,), FAILED),
        Row(PROVIDER_TURN, Event.REPLIED, (*whole, asks_for_tools, budget_left.suspends), SUSPENDED),
        Row(PROVIDER_TURN, Event.REPLIED, (*whole, asks_for_tools, budget_left.passes), DISPATCH_TOOLS),
        Row(PROVIDER_TURN, Event.REPLIED, (*whole, says_done), CANDIDATE_FINAL),
        *again(PROVIDER_TURN, Event.TURN_FAILED, provider_answers),
        Row(PROVIDER_TURN, Event.TURN_FAILED, (provider_answers.suspends,), SUSPENDED),
        Row(PROVIDER_TURN, Event.TURN_FAILED, (provider_answers.fails,), FAILED),
        Row(DISPATCH_TOOLS, Event.DISPATCHED, (calls_permitted.suspends,), SUSPENDED),
        Row(DISPATCH_TOOLS, Event.DISPATCHED, (calls_permitted.passes, intents_committed), AWAIT_RESULTS),
        Row(AWAIT_RESULTS, Event.SETTLED, (calls_answered, budget_left.suspends), SUSPENDED),
        Row(AWAIT_RESULTS, Event.SETTLED, (calls_answered, budget_left.passes), PROVIDER_TURN),
        *through(CANDIDATE_FINAL, Event.SUBMITTED, at_candidate, VERIFY),
        *through(VERIFY, Event.VERIFIED, at_verify, STOP_HOOK),
        *through(STOP_HOOK, Event.ANSWERED, at_stop, FINALIZE),
        *through(FINALIZE, Event.FINALIZED, (receipt_holds,), SUCCEEDED),
        *(Row(state, Event.COMMIT_FAILED, (), FAILED) for state in RUNNING),
        *(Row(state, Event.CANCELLED, (), SUSPENDED) for state in RUNNING),
        Row(SUSPENDED, Event.RESUMED, (budget_left.suspends,), SUSPENDED),
        Row(SUSPENDED, Event.RESUMED, (budget_left.passes, calls_open), DISPATCH_TOOLS),
        Row(SUSPENDED, Event.RESUMED, (budget_left.passes, calls_answered), PROVIDER_TURN),
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
