"""Follows a journal as it grows: folds each entry, splits it into steps, holds the claims against them."""

from collections import Counter

import attrs

from fsm.graph import Graph, Row
from states.fold import apply
from states.history import History
from states.records import CLOSING, Entry, Failed, Record, Suspended, ToolResult, Transition, Verdict

from .claims import Claim, broken
from .copying import copy_of
from .moves import Move
from .table_walk import Sheet, first_row


@attrs.define(eq=False)
class Track:
    """One session, as far as it is durable."""

    graph: Graph
    claims: tuple[Claim, ...]
    history: History
    entries: list[Entry] = attrs.field(factory=list)
    rows: Counter[Row] = attrs.field(factory=Counter)
    """Rows that were taken."""
    problems: list[str] = attrs.field(factory=list)
    _before: History | None = None
    _batch: list[Record] = attrs.field(factory=list)

    def take(self, entry: Entry) -> None:
        """Fold one more durable entry."""
        if entry.fence < self.history.fence:
            self.problems.append(f"record {entry.seq} was written by an owner that had lost the session")
        if self._before is None:
            self._before = copy_of(self.history)
        apply(self.history, entry)
        self.entries.append(entry)
        self._batch.append(entry.record)
        if isinstance(entry.record, Transition) or type(entry.record) in CLOSING or not self._moving(entry.record):
            self._step(f"record {entry.seq}")

    def _moving(self, record: Record) -> bool:
        """Whether more of the same step may follow: an activity under way, or a move on what has happened."""
        part_of_move = isinstance(record, Verdict | ToolResult | Failed | Suspended)
        return self.history.closing_event is None or part_of_move

    def _step(self, label: str) -> None:
        before, move = self._before, Move(label, tuple(self._batch))
        self._before, self._batch = None, []
        if before is None:
            return
        if move.transition is not None and before.closing_event is not None:
            row = first_row(self.graph, before.state, before.closing_event, Sheet(before))
            if row is None or row.target is not move.transition.target:
                self.problems.append(f"{label}: the table does not lead to {move.transition.target}")
            else:
                self.rows[row] += 1
        self.problems += [f"{label}: {name}: {why}" for name, why in broken(self.claims, before, move, self.history)]

    def fold_again(self) -> str | None:
        """Replaying the entries must give the same history."""
        fresh = History(self.history.session)
        for entry in self.entries:
            apply(fresh, entry)
        for field in attrs.fields(History):
            if getattr(fresh, field.name) != getattr(self.history, field.name):
                return f"replaying the journal gives another {field.name}"
        return None
