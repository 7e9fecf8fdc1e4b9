"""Asks `transitions` where an event leads, and changes nothing. The only file that imports it.

One synchronous machine per graph, without models: a run is never registered with it. A decision uses a throw-away
cursor, so an event that is refused has left no trace.
"""

import logging
from functools import lru_cache

import attrs
from transitions import EventData, Machine, Transition
from transitions import State as MachineState
from transitions.core import Condition

from gates.gate import Gate, Guard
from states.errors import GateError
from states.history import History
from states.names import ENDS, INITIAL, Event, State
from states.verdicts import Pass, Ruling

from .graph import Graph

logging.getLogger("transitions").setLevel(logging.WARNING)  # ten log calls a trigger otherwise


@attrs.frozen
class Decision:
    """Where an event leads (None: no row takes it) and what the gates said on the way, in the order asked."""

    source: State
    event: Event
    target: State | None
    rulings: tuple[tuple[Gate, Ruling], ...] = ()


@attrs.define(eq=False)
class _Cursor:
    """Stands in for the run while one decision is made. Each gate is asked at most once."""

    state: str
    history: History
    rulings: dict[str, tuple[Gate, Ruling]] = attrs.field(factory=dict)

    def ruling(self, gate: Gate) -> Ruling:
        known = self.rulings.get(gate.name)
        if known is None:
            known = self.rulings[gate.name] = (gate, _judge(gate, self.history))
        return known[1]


def _judge(gate: Gate, history: History) -> Ruling:
    try:
        ruling = gate.judge(history)
    except Exception as error:
        raise GateError(f"gate {gate.name!r} raised {type(error).__name__}: {error}") from error
    if not isinstance(ruling, (Pass, *gate.may)):
        names = ", ".join(kind.__name__ for kind in (Pass, *gate.may))
        raise GateError(f"gate {gate.name!r} ruled {ruling!r}; it declares {names}")
    return ruling


class _GuardCondition(Condition):
    """The library would compare a guard's answer with `== True` and hide why it refused."""

    def check(self, event_data: EventData) -> bool:
        guard: Guard = self.func  # type: ignore[assignment]  # the library types it as a callback
        cursor: _Cursor = event_data.model  # type: ignore[assignment]  # typed as object there
        return guard.holds(cursor)


class _GuardedTransition(Transition):
    condition_cls = _GuardCondition


class _LoopMachine(Machine):
    transition_cls = _GuardedTransition


@lru_cache(maxsize=64)
def compile_graph(graph: Graph) -> Machine:
    """Built once per graph and process; safe to share, since nothing in it changes after."""
    return _LoopMachine(
        model=None,
        states=[MachineState(state.value, final=state in ENDS) for state in State],
        initial=INITIAL.value,
        transitions=[
            {
                "trigger": row.event.value,
                "source": row.source.value,
                "dest": row.target.value,
                "conditions": list(row.guards),
            }
            for row in graph
        ],
        auto_transitions=False,
        send_event=True,
    )


def decide(graph: Graph, state: State, event: Event, history: History) -> Decision:
    """Where `event` leads from `state`. Pure: equal arguments give equal decisions. Raises GateError."""
    rules = compile_graph(graph).events.get(event.value)
    if rules is None or state.value not in rules.transitions:  # a defaultdict: never index it
        return Decision(state, event, None)
    cursor = _Cursor(state.value, history)
    moved = rules.trigger(cursor)
    return Decision(state, event, State(cursor.state) if moved else None, tuple(cursor.rulings.values()))
