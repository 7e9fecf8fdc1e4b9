"""A step of a run as the checks see it: a label for people, and the records that were committed."""

from collections.abc import Iterable, Iterator

import attrs

from fsm.graph import Row
from fsm.machine import Decision
from fsm.reasons import reason_of
from states.await_results import close
from states.fold import apply
from states.history import History
from states.names import ENDS
from states.records import CLOSING, Entry, Record, Transition, Verdict

from .copying import copy_of


@attrs.frozen
class Move:
    """Records that are committed together.

    `honest`: what an activity, a person or the driver may leave; else it is a lie or an accident that the fold
    or the table has to refuse. `pause`: seconds of work that passed before the first record.
    """

    label: str
    records: tuple[Record, ...]
    honest: bool = True
    pause: float = 0.0

    @property
    def transition(self) -> Transition | None:
        last = self.records[-1] if self.records else None
        return last if isinstance(last, Transition) else None


def after(history: History, move: Move) -> History:
    """The history that `move` leaves; `history` stays as it is. Raises HistoryError where the fold refuses."""
    result = copy_of(history)
    at = history.at + move.pause
    for record in move.records:
        apply(result, Entry(result.seq + 1, at, result.fence or 1, record))
    return result


def split(session: str, entries: Iterable[Entry]) -> Iterator[tuple[History, Move, History]]:
    """A journal as steps: one ends with each record that ends an activity, and one with each transition."""
    history = History(session)
    before, batch = copy_of(history), list[Record]()
    for entry in entries:
        apply(history, entry)
        batch.append(entry.record)
        if isinstance(entry.record, Transition) or type(entry.record) in CLOSING:
            now = copy_of(history)
            yield before, Move(f"record {entry.seq}", tuple(batch)), now
            before, batch = now, []
    if batch:
        yield before, Move(f"record {history.seq}", tuple(batch)), copy_of(history)


def made_by(decision: Decision, history: History) -> Move:
    """The move that the driver commits for a decision: verdicts, closed calls, the reason, the transition."""
    rests_on = (history.closing, *range(history.seq + 1, history.seq + 1 + len(decision.rulings)))
    verdicts = (Verdict(gate.name, ruling) for gate, ruling in decision.rulings)
    ended = decision.target in ENDS
    closes = (close(call, history.epoch, history.fence, begun=False) for call in history.open_calls() if ended)
    reason = reason_of(decision, None, history)
    moved = Transition(decision.source, decision.event, decision.target or decision.source, rests_on)
    return Move(f"{decision.source} -- {decision.event}", (*verdicts, *closes, *reason, moved))


def told(row: Row) -> str:
    """A row in one line."""
    return f"{row.source} -- {row.event} [{', '.join(guard.name for guard in row.guards)}] --> {row.target}"
