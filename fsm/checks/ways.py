"""What the rows promise as a map: where one can get from where, and that nothing leads around a gate."""

from collections.abc import Iterator
from typing import Final

from fsm.graph import Graph
from gates.receipt_holds import ReceiptHolds
from states.names import ENDS, INITIAL, RUNNING, Event, State

from .finding import Finding
from .reading import bounded, completion_gates, passed, reach, told

JUDGED: Final = (State.CANDIDATE_FINAL, State.VERIFY, State.STOP_HOOK)
"""Where completion gates are asked; the receipt has to name their passes."""
TOWARD: Final = (*JUDGED, State.FINALIZE, State.SUCCEEDED)
"""Nobody gets here without a gate's pass."""


def reachable(graph: Graph) -> Iterator[Finding]:
    reached = reach(graph, INITIAL)
    named = {State.SUCCEEDED} | {state for row in graph for state in (row.source, row.target)}
    for state in State:
        if state in named - reached:
            yield Finding("reachable", f"no way leads from {INITIAL} to {state}")


def ends(graph: Graph) -> Iterator[Finding]:
    for number, row in enumerate(graph, 1):
        if row.source in ENDS:
            yield Finding("ends", f"{told(graph, number)} leads out of an end", (number,))


def way_to_success(graph: Graph) -> Iterator[Finding]:
    named = {state for row in graph for state in (row.source, row.target)}
    for state in State:
        if state in named - ENDS and State.SUCCEEDED not in reach(graph, state):
            yield Finding("way out", f"no way leads from {state} to {State.SUCCEEDED}")


def cycles(graph: Graph) -> Iterator[Finding]:
    """Without the rows that a counter bounds, no cycle may be left among running states."""
    free = tuple(row for row in graph if not bounded(row) and row.source in RUNNING and row.target in RUNNING)
    for state in RUNNING:
        onward = tuple(row for row in free if row.source is state)
        if any(state in reach(free, row.target) for row in onward):
            yield Finding("cycles", f"a run can come back to {state} for ever: no row on the way asks for a budget")


def always(graph: Graph) -> Iterator[Finding]:
    """Wherever a run is, the store can fail and somebody can stop it."""
    for state in RUNNING:
        for event, due in ((Event.COMMIT_FAILED, State.FAILED), (Event.CANCELLED, State.SUSPENDED)):
            rows = [(number, row) for number, row in enumerate(graph, 1) if (row.source, row.event) == (state, event)]
            if all(row.guards for _, row in rows):
                yield Finding("always", f"{state} has no unguarded row for {event}")
            for number, row in rows:
                if row.target is not due:
                    yield Finding("always", f"{told(graph, number)} should lead to {due}", (number,))


# --- success ---------------------------------------------------------------------------------------------------------


def bare(graph: Graph) -> Iterator[Finding]:
    for number, row in enumerate(graph, 1):
        if row.target in TOWARD and not passed(row):
            message = f"{told(graph, number)} leads toward success, and no gate has to pass for it"
            yield Finding("bare", message, (number,))


def last_step(graph: Graph) -> Iterator[Finding]:
    for number, row in enumerate(graph, 1):
        if row.target is State.SUCCEEDED and (row.source, row.event) != (State.FINALIZE, Event.FINALIZED):
            message = f"{told(graph, number)}: only {State.FINALIZE} leads there, on {Event.FINALIZED}"
            yield Finding("last step", message, (number,))


def cut(graph: Graph) -> Iterator[Finding]:
    """Delete all rows that name a completion gate's pass: success must be out of reach."""
    for gate in completion_gates(graph, (*JUDGED, State.FINALIZE)):
        rest = tuple(row for row in graph if gate.passes not in row.guards)
        if State.SUCCEEDED in reach(rest, INITIAL):
            yield Finding("cut", f"a way to {State.SUCCEEDED} leads around {gate.name}")


def receipt(graph: Graph) -> Iterator[Finding]:
    """The receipt names exactly the passes that the table asks for before it."""
    asked = {gate.name for gate in completion_gates(graph, JUDGED)}
    for gate in completion_gates(graph, (State.FINALIZE,)):
        if isinstance(gate, ReceiptHolds):
            for name in sorted(asked - set(gate.required)):
                yield Finding("receipt", f"{gate.name} does not require the pass of {name}; name it in `required`")
            for name in sorted(set(gate.required) - asked):
                yield Finding("receipt", f"{gate.name} requires the pass of {name}, which no row toward it asks for")
