"""What the rows of one decision promise each other: whatever the gates rule, exactly the right row takes it."""

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations

from fsm.graph import Graph, Row
from gates.gate import Gate
from states.names import INITIAL, Event, State
from states.verdicts import Fail, Pass, Retry, Suspend

from .branches import branches, decisions
from .finding import Finding
from .reading import asked, decides, facts, leads_on, objector, told


def dead_rows(graph: Graph) -> Iterator[Finding]:
    for indices in decisions(graph).values():
        taken = {branch.row for branch in branches(graph, indices)}
        for index in indices:
            if index not in taken:
                message = f"{told(graph, index + 1)} is never taken: {_why(graph, index)}"
                yield Finding("shadowed", message, (index + 1,))


def gaps(graph: Graph) -> Iterator[Finding]:
    """Whatever the gates rule, a row takes it. Where every row objects, the event is an objection in itself."""
    for (state, event), indices in decisions(graph).items():
        rows = [graph[index] for index in indices]
        fails_by_itself = all(objector(row) for row in rows)
        cases = [case for row in rows if (case := facts(row))] or [set()]
        for branch in branches(graph, indices):
            impossible = fails_by_itself and all(kind is Pass for kind in branch.rulings.values())
            if branch.row is None and not impossible and any(_fits(case, branch.facts) for case in cases):
                yield Finding("gap", f"in {state} no row takes {event} when: {branch}")


def _fits(case: set[str], seen: Mapping[str, bool]) -> bool:
    """Facts tell alternatives apart: those that one row looks at hold together, and no others."""
    return all(holds is (name in case) for name, holds in seen.items())


def _why(graph: Graph, index: int) -> str:
    row = graph[index]
    ruled: dict[Gate, object] = {}
    for guard in asked(row):
        if ruled.setdefault(guard.gate, guard.kind) is not guard.kind:
            return f"{guard.gate.name} cannot rule two ways at once"
    for number, earlier in enumerate(graph[:index], 1):
        if decides(earlier) == decides(row) and set(earlier.guards) <= set(row.guards):
            return f"row {number} takes all that it could"
    return "the rows before it take all that it could"


def order(graph: Graph) -> Iterator[Finding]:
    """What leads on must say so by its own guards: no order of rows may be what keeps a gate in its way."""
    for indices in decisions(graph).values():
        for one, other in combinations(indices, 2):
            first, second = graph[one], graph[other]
            told_apart = leads_on(first) or leads_on(second) or objector(first) == objector(second)
            if first.target is not second.target and told_apart and not _exclusive(first, second):
                message = f"only their order tells {told(graph, one + 1)} and {told(graph, other + 1)} apart"
                yield Finding("order", message, (one + 1, other + 1))


def _exclusive(first: Row, second: Row) -> bool:
    ruled = {guard.gate: guard.kind for guard in asked(first)}
    if any(ruled.get(guard.gate, guard.kind) is not guard.kind for guard in asked(second)):
        return True
    looks, also = facts(first), facts(second)
    return not (looks <= also or also <= looks)


def objections(graph: Graph) -> Iterator[Finding]:
    """An objection leads where its name says, and nothing ends or rests a run without one."""
    for number, row in enumerate(graph, 1):
        kinds = {guard.kind for guard in asked(row)} - {Pass}
        due = _due(kinds)
        if due and row.target is not due:
            message = f"{told(graph, number)} should lead to {due}, as {_ruled(row)}"
            yield Finding("objections", message, (number,))
        stopped = row.event in {Event.COMMIT_FAILED, Event.CANCELLED}
        if not due and not stopped and row.target in {State.FAILED, State.SUSPENDED}:
            yield Finding("objections", f"{told(graph, number)} stops a run without a gate that says why", (number,))


def _due(kinds: Collection[object]) -> State | None:
    if Fail in kinds:
        return State.FAILED
    if Suspend in kinds:
        return State.SUSPENDED
    return INITIAL if Retry in kinds else None


def _ruled(row: Row) -> str:
    return ", ".join(guard.name for guard in asked(row) if guard.kind is not Pass)
