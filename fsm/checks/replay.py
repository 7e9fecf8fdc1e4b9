"""Makes journals of explored histories, so that a real loop can go on from them."""

from collections.abc import Iterable
from functools import lru_cache

import attrs

from fsm.digests import graph_digest, tools_digest
from fsm.graph import Graph, Row
from fsm.machine import decide
from states.codec import encode, kind_of
from states.errors import HistoryError
from states.history import History
from states.ports import Draft, ToolSpec
from states.records import Entry, Record, RunStarted, StopAnswer, Transition

from .explore import Report, checked
from .moves import Move, after
from .stage import SPECS, StageClock


@attrs.frozen
class Prefix:
    """A past to go on from. `hint` is what the search did next."""

    name: str
    drafts: tuple[Draft, ...] = attrs.field(repr=False)
    hint: str = ""

    def __repr__(self) -> str:
        return f"<{self.name}>"


def prefixes(report: Report, graph: Graph, specs: Iterable[ToolSpec], at: float) -> list[Prefix]:
    """For each row, the past just before what leads to it, and the past in which only the move is missing."""
    pinned = {"graph": graph_digest(graph), "tools": tools_digest(list(specs))}
    found: dict[str, Prefix] = {}
    for row, path in report.paths.items():
        for moves, hint in ((path[:-2], path[-2].label), (path[:-1], "")):
            records = tuple(_pinned(record, pinned) for move in moves for record in move.records)
            if moves and _follows(graph, moves):
                name = f"{_short(row)} {'after' if not hint else 'before'} {path[-2].label}"
                found.setdefault(name, Prefix(name, drafts(moves, records, at), hint))
    return list(found.values())


@lru_cache(maxsize=8)
def starts(graph: Graph) -> tuple[Prefix, ...]:
    """Every past that `explore` found, for a loop with the stage's tools to go on from."""
    return tuple(prefixes(checked(graph), graph, SPECS, StageClock().time))


def _short(row: Row) -> str:
    said = " and ".join(guard.name for guard in row.guards if not guard.name.endswith(" passes"))
    return f"{row.source} to {row.target}" + (f" as {said}" if said else "")


def _pinned(record: Record, pinned: dict[str, str]) -> Record:
    return (
        attrs.evolve(record, graph=pinned["graph"], tools=pinned["tools"]) if isinstance(record, RunStarted) else record
    )


def _follows(graph: Graph, moves: Iterable[Move]) -> bool:
    """Whether the table makes these very moves, with every retry counted as it really was."""
    history = History("replayed")
    for move in moves:
        if isinstance(move.transition, Transition):
            event = history.closing_event
            if event is None or decide(graph, history.state, event, history).target is not move.transition.target:
                return False
        try:
            history = after(history, move)
        except HistoryError:
            return False
    return True


def drafts(moves: Iterable[Move], records: tuple[Record, ...], at: float) -> tuple[Draft, ...]:
    """Entries of a first claim, encoded. Time passes where the moves say so."""
    times: list[float] = []
    for move in moves:
        at += move.pause
        times += [at] * len(move.records)
    return tuple(
        Draft(
            Entry(seq, time, 1, record),
            kind_of(record),
            encode(record),
            record.sealed if isinstance(record, StopAnswer) else None,
        )
        for seq, (time, record) in enumerate(zip(times, records, strict=True), 1)
    )
