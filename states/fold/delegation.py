"""What a run gave to other agents."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from states.history import Child, History
from states.names import RESTING, State
from states.records import Delegated, DelegationEnded

from .basics import need


def _delegated(history: History, seq: int, record: Delegated) -> None:
    need(history.state is State.AWAIT_RESULTS, seq, f"an agent begins in {history.state}")
    asked = any(state.intent == record.intent for state in history.open_calls())
    need(asked, seq, f"an agent begins, which no open call has asked for (intent {record.intent})")
    need(record.session not in history.children, seq, f"the agent of session {record.session!r} begins twice")
    history.children[record.session] = Child(
        record.intent, record.agent, record.prompt, record.background, isolation=record.isolation
    )


def _delegation_ended(history: History, seq: int, record: DelegationEnded) -> None:
    child = history.children.get(record.session)
    need(child is not None, seq, f"the end of session {record.session!r}, which this run did not begin")
    need(record.state in RESTING, seq, f"an agent that ends in {record.state}")
    if child is not None:
        history.usage = history.usage + record.usage - child.usage
        history.cost += record.cost - child.cost
        history.spent = history.spent + record.usage - child.usage
        history.changed |= dict.fromkeys(record.changed)
        history.shell |= dict.fromkeys(record.commands)
        history.children[record.session] = attrs.evolve(
            child, state=record.state, reason=record.reason, usage=record.usage, cost=record.cost
        )


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    Delegated: _delegated,
    DelegationEnded: _delegation_ended,
}
