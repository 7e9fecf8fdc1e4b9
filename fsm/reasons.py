"""Why a run ends or rests, in one record: what the ruling that decided had said, or who stopped it."""

import attrs

from states.history import History
from states.names import Event, State
from states.records import Cancellation, Failed, Record, Suspended
from states.verdicts import Fail, Suspend, WaitsFor

from .machine import Decision
from .standing import told


def reason_of(decision: Decision, cancellation: Cancellation | None, history: History) -> tuple[Record, ...]:
    """The record that says why a run ends or rests, from the ruling that decided; `history` is what it rests on."""
    return tuple(
        attrs.evolve(record, summary=told(history))
        if isinstance(record, Suspended) and record.waits_for is WaitsFor.BUDGET
        else record
        for record in _reason_of(decision, cancellation)
    )


def _reason_of(decision: Decision, cancellation: Cancellation | None) -> tuple[Record, ...]:
    if decision.event is Event.CANCELLED:
        said = cancellation or Cancellation()
        if said.waits_for is WaitsFor.BUDGET:
            return (Suspended(said.waits_for, said.reason),)
        return (Suspended(said.waits_for, f"cancelled: {said.reason}" if said.reason else "cancelled"),)
    for gate, ruling in reversed(decision.rulings):
        if isinstance(ruling, Fail) and decision.target is State.FAILED:
            return (Failed(ruling.code, ruling.message, gate.name),)
        if isinstance(ruling, Suspend) and decision.target is State.SUSPENDED:
            return (Suspended(ruling.waits_for, ruling.message, gate.name),)
    if decision.target is State.FAILED:
        return (Failed("failed", f"the table leads from {decision.source} on {decision.event} to failed"),)
    if decision.target is State.SUSPENDED:
        return (Suspended(WaitsFor.RESUME, f"the table rests on {decision.event} in {decision.source}"),)
    return ()
