"""The way of a session through the table, from its journal."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from fsm.graph import Graph, Row
from gates.gate import Asked
from states.names import ENDS, INITIAL, State
from states.records import Entry, Suspended, Transition, Verdict
from states.verdicts import Ruling

from .lasting import lasting
from .marks import Marks


def session_path(graph: Graph, entries: Iterable[Entry]) -> Counter[int]:
    """Numbers (from 1) of the rows that the session's moves took, and how often.

    A move names its states and its event; the rulings committed with it tell apart rows that share them. A move that
    an older table made, and this one has no row for, is left out.
    """
    taken: Counter[int] = Counter()
    rulings: dict[str, Ruling] = {}
    for entry in entries:
        if isinstance(entry.record, Verdict):
            rulings[entry.record.gate] = entry.record.ruling
        elif isinstance(entry.record, Transition):
            row = _row(graph, entry.record, rulings)
            if row:
                taken[row] += 1
            rulings = {}
    return taken


def session_marks(graph: Graph, entries: Sequence[Entry]) -> Marks:
    """The way of the session: rows with their counts, states with their visits and times, and where it stands."""
    if not entries:
        return Marks()
    visits, seconds, here = _stays(entries)
    spent = {state: f"{count}×, {lasting(seconds[state])}" for state, count in visits.items()}
    spent |= {state: f"{visits[state]}×" for state in ENDS if state in visits}
    return Marks(session_path(graph, entries), spent, here, _stands(entries, here))


def _stays(entries: Sequence[Entry]) -> tuple[Counter[State], Mapping[State, float], State]:
    """Visits and seconds per state, and the last one. Time in which no process had the session is nobody's."""
    visits, seconds, here = Counter({INITIAL: 1}), defaultdict[State, float](float), INITIAL
    before = entries[0]
    for entry in entries:
        if entry.fence == before.fence or here is State.SUSPENDED:
            seconds[here] += entry.at - before.at
        before = entry
        if isinstance(entry.record, Transition):
            here = entry.record.target
            visits[here] += 1
    return visits, seconds, here


def _stands(entries: Sequence[Entry], here: State) -> str:
    if here is State.SUSPENDED:
        rest = next((entry.record for entry in reversed(entries) if isinstance(entry.record, Suspended)), None)
        return f"rests here: waits for {rest.waits_for}" if rest else "rests here"
    return "ended here" if here in ENDS else "stands here"


def _row(graph: Graph, move: Transition, rulings: Mapping[str, Ruling]) -> int:
    for number, row in enumerate(graph, 1):
        if (row.source, row.event, row.target) == (move.source, move.event, move.target) and _agrees(row, rulings):
            return number
    return 0


def _agrees(row: Row, rulings: Mapping[str, Ruling]) -> bool:
    return all(isinstance(rulings.get(guard.gate.name), guard.kind) for guard in row.guards if isinstance(guard, Asked))
