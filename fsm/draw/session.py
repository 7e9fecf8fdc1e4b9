"""The rows of the table that a session took, from its journal."""

from collections.abc import Iterable, Mapping

from fsm.graph import Graph, Row
from gates.gate import Asked
from states.records import Entry, Transition, Verdict
from states.verdicts import Ruling


def session_path(graph: Graph, entries: Iterable[Entry]) -> frozenset[int]:
    """Numbers (from 1) of the rows that the session's moves took.

    A move names its states and its event; the rulings committed with it tell apart rows that share them. A move that
    an older table made, and this one has no row for, is left out.
    """
    taken: set[int] = set()
    rulings: dict[str, Ruling] = {}
    for entry in entries:
        if isinstance(entry.record, Verdict):
            rulings[entry.record.gate] = entry.record.ruling
        elif isinstance(entry.record, Transition):
            row = _row(graph, entry.record, rulings)
            if row:
                taken.add(row)
            rulings = {}
    return frozenset(taken)


def _row(graph: Graph, move: Transition, rulings: Mapping[str, Ruling]) -> int:
    for number, row in enumerate(graph, 1):
        if (row.source, row.event, row.target) == (move.source, move.event, move.target) and _agrees(row, rulings):
            return number
    return 0


def _agrees(row: Row, rulings: Mapping[str, Ruling]) -> bool:
    return all(isinstance(rulings.get(guard.gate.name), guard.kind) for guard in row.guards if isinstance(guard, Asked))
