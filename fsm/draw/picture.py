"""The table as a picture needs it: states in happy-path order, and one edge for all rows between two states."""

from enum import StrEnum
from itertools import groupby

import attrs

from fsm.graph import Graph, Row
from gates.gate import Asked
from states.errors import ConfigError
from states.names import ENDS, INITIAL, RESTING, RUNNING, Event, State
from states.verdicts import Retry

from .marks import PLAIN, Marks


class Kind(StrEnum):
    """What a state is to a run."""

    INITIAL = "initial"
    RUNNING = "running"
    REST = "rest"
    END = "end"


class Way(StrEnum):
    """What a row does to a run; each is drawn in its own manner."""

    ONWARD = "onward"
    RETRY = "retry"
    SUSPEND = "suspend"
    FAIL = "fail"


@attrs.frozen
class Numbered:
    """A row and its place in the table, from 1. The number is what a picture shows of it."""

    number: int
    row: Row

    @property
    def way(self) -> Way:
        if self.row.target is State.FAILED:
            return Way.FAIL
        if self.row.target is State.SUSPENDED:
            return Way.SUSPEND
        back = any(isinstance(guard, Asked) and guard.kind is Retry for guard in self.row.guards)
        return Way.RETRY if back else Way.ONWARD


@attrs.frozen
class Node:
    state: State
    kind: Kind


@attrs.frozen
class Edge:
    """All rows from one state to another, in the table's order."""

    source: State
    target: State
    rows: tuple[Numbered, ...]

    @property
    def way(self) -> Way:
        """The first of `Way` that a row of it is: an edge that also leads onward is drawn as one that does."""
        ways = {numbered.way for numbered in self.rows}
        return next(way for way in Way if way in ways)

    @property
    def events(self) -> tuple[tuple[Event, tuple[Numbered, ...]], ...]:
        """Its rows by event, in the table's order."""
        return tuple((event, tuple(rows)) for event, rows in groupby(self.rows, lambda numbered: numbered.row.event))


@attrs.frozen
class Anywhere:
    """One unguarded row that every running state has: drawn once, as h11 draws its way into ERROR."""

    event: Event
    target: State
    rows: tuple[Numbered, ...]

    @property
    def way(self) -> Way:
        return self.rows[0].way

    def of(self, state: State) -> "Anywhere":
        """The one of these rows that is this state's."""
        return attrs.evolve(self, rows=tuple(numbered for numbered in self.rows if numbered.row.source is state))


@attrs.frozen
class Picture:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    anywhere: tuple[Anywhere, ...]


def picture(graph: Graph, part: State | None = None) -> Picture:
    """What there is to draw of a table. States that no row names are left out.

    part: only this state and the rows that lead out of it. Raises ConfigError where none does.
    """
    rows = tuple(Numbered(number, row) for number, row in enumerate(graph, 1))
    anywhere = _anywhere(rows)
    if part is not None:
        rows = tuple(numbered for numbered in rows if numbered.row.source is part)
        anywhere = tuple(note.of(part) for note in anywhere if part in RUNNING)
        if not rows:
            raise ConfigError(f"no row of the table leads out of {part}")
    covered = {numbered.number for note in anywhere for numbered in note.rows}
    pairs: dict[tuple[State, State], list[Numbered]] = {}
    for numbered in rows:
        if numbered.number not in covered:
            pairs.setdefault((numbered.row.source, numbered.row.target), []).append(numbered)
    order = list(State)
    named = {part or INITIAL} | {state for numbered in rows for state in (numbered.row.source, numbered.row.target)}
    return Picture(
        tuple(Node(state, _kind(state)) for state in order if state in named),
        tuple(
            Edge(source, target, tuple(pairs[source, target]))
            for source, target in sorted(pairs, key=lambda pair: (order.index(pair[0]), order.index(pair[1])))
        ),
        anywhere,
    )


def _anywhere(rows: tuple[Numbered, ...]) -> tuple[Anywhere, ...]:
    found: dict[tuple[Event, State], list[Numbered]] = {}
    for numbered in rows:
        if not numbered.row.guards and numbered.row.source in RUNNING:
            found.setdefault((numbered.row.event, numbered.row.target), []).append(numbered)
    return tuple(
        Anywhere(event, target, tuple(bare))
        for (event, target), bare in found.items()
        if {numbered.row.source for numbered in bare} == set(RUNNING)
    )


def _kind(state: State) -> Kind:
    if state is INITIAL:
        return Kind.INITIAL
    if state in ENDS:
        return Kind.END
    return Kind.REST if state in RESTING else Kind.RUNNING


def numbers(rows: tuple[Numbered, ...], marks: Marks = PLAIN) -> str:
    """Row numbers in words: "5", "16, 18", "36 to 42"."""
    if marks.compares:
        return ", ".join(marks.name(numbered.number) for numbered in rows)
    values = [numbered.number for numbered in rows]
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
