"""Every way in which one decision can go, read off the table: what the gates might rule, and the row that takes it."""

from collections.abc import Iterator, Mapping, Sequence

import attrs

from fsm.graph import Graph, Row
from gates.gate import Asked, Gate, Guard
from states.names import Event, State
from states.verdicts import Fail, Pass, Retry, Suspend

Ruled = type[Pass] | type[Retry] | type[Fail] | type[Suspend]


@attrs.frozen
class Branch:
    """Answers that decide, and the index in the table of the row that they lead to (None: no row takes them)."""

    rulings: Mapping[Gate, Ruled]
    facts: Mapping[str, bool]
    row: int | None

    def __str__(self) -> str:
        ruled = (Asked(gate, kind).name for gate, kind in self.rulings.items())
        return ", ".join((*ruled, *(name for name, holds in self.facts.items() if holds))) or "anything"


def decisions(graph: Graph) -> dict[tuple[State, Event], tuple[int, ...]]:
    """Row indices by what decides among them, in the table's order."""
    found: dict[tuple[State, Event], list[int]] = {}
    for index, row in enumerate(graph):
        found.setdefault((row.source, row.event), []).append(index)
    return {key: tuple(indices) for key, indices in found.items()}


def branches(graph: Graph, indices: Sequence[int]) -> Iterator[Branch]:
    """All branches of one decision, asking guards in the order in which the machine asks them.

    Facts are taken to be independent of each other and of the gates: so a row that is dead here is dead.
    """
    return _walk([(index, graph[index]) for index in indices], {}, {})


def _walk(rows: list[tuple[int, Row]], rulings: dict[Gate, Ruled], facts: dict[str, bool]) -> Iterator[Branch]:
    for place, (index, row) in enumerate(rows):
        answers = [_answer(guard, rulings, facts) for guard in row.guards]
        if False in answers[: _first_open(answers)]:
            continue
        if None not in answers:
            yield Branch(rulings, facts, index)
            return
        guard = row.guards[answers.index(None)]
        if isinstance(guard, Asked):
            for kind in (Pass, *guard.gate.may):
                yield from _walk(rows[place:], {**rulings, guard.gate: kind}, facts)
        else:
            for holds in (True, False):
                yield from _walk(rows[place:], rulings, {**facts, guard.name: holds})
        return
    yield Branch(rulings, facts, None)


def _answer(guard: Guard, rulings: Mapping[Gate, Ruled], facts: Mapping[str, bool]) -> bool | None:
    if not isinstance(guard, Asked):
        return facts.get(guard.name)
    kind = rulings.get(guard.gate)
    return None if kind is None else kind is guard.kind


def _first_open(answers: list[bool | None]) -> int:
    return answers.index(None) if None in answers else len(answers)
