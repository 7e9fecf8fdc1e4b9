"""The table, read by hand: what `fsm.machine` has to agree with."""

import attrs

from fsm.graph import Graph, Row
from gates.gate import Gate
from states.history import History
from states.names import Event, State
from states.verdicts import Ruling


@attrs.define(eq=False)
class Sheet:
    """One decision's rulings, each gate asked once, in the order in which it was first asked."""

    history: History
    rulings: dict[str, tuple[Gate, Ruling]] = attrs.field(factory=dict)

    def ruling(self, gate: Gate) -> Ruling:
        if gate.name not in self.rulings:
            self.rulings[gate.name] = (gate, gate.judge(self.history))
        return self.rulings[gate.name][1]


def first_row(graph: Graph, state: State, event: Event, sheet: Sheet) -> Row | None:
    """The first row of (state, event) whose guards all hold."""
    for row in graph:
        if row.source is state and row.event is event and all(guard.holds(sheet) for guard in row.guards):
            return row
    return None
