"""How the static check reads rows."""

from collections.abc import Collection

from fsm.graph import Graph, Row
from gates.budget_left import BudgetLeft
from gates.gate import Asked, Fact, Gate
from states.names import Event, State
from states.verdicts import Pass, Retry


def reach(graph: Graph, start: State) -> frozenset[State]:
    """The states that rows lead to from `start`, and `start` itself."""
    found = {start}
    fresh = [start]
    while fresh:
        state = fresh.pop()
        onward = {row.target for row in graph if row.source is state} - found
        found |= onward
        fresh += onward
    return frozenset(found)


def completion_gates(graph: Graph, states: Collection[State]) -> tuple[Gate, ...]:
    """The gates that have to pass on rows that lead on from these states, each once, in the table's order."""
    rows = (row for row in graph if row.source in states and leads_on(row))
    return tuple(dict.fromkeys(guard.gate for row in rows for guard in asked(row)))


def asked(row: Row) -> tuple[Asked, ...]:
    return tuple(guard for guard in row.guards if isinstance(guard, Asked))


def facts(row: Row) -> set[str]:
    return {guard.name for guard in row.guards if isinstance(guard, Fact)}


def decides(row: Row) -> tuple[State, Event]:
    return row.source, row.event


def leads_on(row: Row) -> bool:
    return all(guard.kind is Pass for guard in asked(row))


def objector(row: Row) -> Gate | None:
    """The gate that a row is about: whose objection its first guard is that is no plain pass."""
    first = next((guard for guard in row.guards if not isinstance(guard, Asked) or guard.kind is not Pass), None)
    return first.gate if isinstance(first, Asked) else None


def passed(row: Row) -> bool:
    return any(guard.kind is Pass and not isinstance(guard.gate, BudgetLeft) for guard in asked(row))


def bounded(row: Row) -> bool:
    """It passes a counter: what is left of the budget, or the retries of a gate."""
    return any(
        guard.kind is Retry or (guard.kind is Pass and isinstance(guard.gate, BudgetLeft)) for guard in asked(row)
    )


def told(graph: Graph, number: int) -> str:
    row = graph[number - 1]
    return f"row {number} ({row.source}, {row.event} -> {row.target})"
