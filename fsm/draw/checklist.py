"""A state's rows as a person reads them: per event, the gates in the order in which they are asked."""

from enum import StrEnum
from itertools import groupby

import attrs

from gates.gate import Asked, Guard
from states.names import Event, State
from states.verdicts import Pass

from .picture import Numbered, Picture


class Asks(StrEnum):
    """What a line of a checklist is."""

    GATE = "gate"
    """A gate, for its objections."""
    FACT = "fact"
    """It only looks: no verdict comes of it."""
    SUM = "sum"
    """Nothing objected."""


@attrs.frozen
class Line:
    """What is asked at this point, and the rows that the answer can take."""

    name: str
    asks: Asks
    also: tuple[str, ...]
    """Gates that these rows ask besides, such as the budget of a retry."""
    rows: tuple[Numbered, ...]


@attrs.frozen
class Checklist:
    event: Event
    lines: tuple[Line, ...]


def checklists(drawn: Picture, state: State) -> tuple[Checklist, ...]:
    """The checklists of one state, in the table's order, without the rows that every running state has."""
    rows = sorted((row for edge in drawn.edges if edge.source is state for row in edge.rows), key=_number)
    events = dict.fromkeys(numbered.row.event for numbered in rows)
    return tuple(Checklist(event, _lines([row for row in rows if row.row.event is event])) for event in events)


def _number(numbered: Numbered) -> int:
    return numbered.number


def _lines(rows: list[Numbered]) -> tuple[Line, ...]:
    lines: list[Line] = []
    asked: set[str] = set()
    for key, together in groupby(rows, lambda numbered: _key(numbered.row.guards)):
        group = tuple(together)
        names = list(dict.fromkeys(_name(guard) for numbered in group for guard in numbered.row.guards))
        if isinstance(key, tuple):
            lines.append(Line(_passing(names, asked), Asks.SUM, (), group))
            continue
        also = tuple(name for name in names if name != _name(key) and name not in asked)
        lines.append(Line(_name(key), Asks.GATE if isinstance(key, Asked) else Asks.FACT, also, group))
        if isinstance(key, Asked):
            asked.add(_name(key))
    return tuple(lines)


def _key(guards: tuple[Guard, ...]) -> Guard | tuple[Guard, ...]:
    """What tells a row apart from its neighbours: its first guard that is not a plain pass; without one, all of them.

    One gate's objections belong together, so they are keyed by its pass.
    """
    for guard in guards:
        if not isinstance(guard, Asked):
            return guard
        if guard.kind is not Pass:
            return guard.gate.passes
    return guards


def _name(guard: Guard) -> str:
    return guard.gate.name if isinstance(guard, Asked) else guard.name


def _passing(names: list[str], asked: set[str]) -> str:
    if not names:
        return "always"
    if set(names) == asked:
        return "all pass" if len(names) > 1 else "passes"
    return f"{', '.join(names)} {'pass' if len(names) > 1 else 'passes'}"
