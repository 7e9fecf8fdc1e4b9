"""What a check has exercised: so that nothing passes because nothing happened."""

from collections import Counter
from collections.abc import Iterable

import attrs

from fsm.graph import Graph, Row
from gates.gate import Asked
from states.names import Event, State
from states.records import Entry, Transition, Verdict
from states.verdicts import Fail, Pass, Retry, Suspend

from .moves import told

KINDS = {Pass: "passes", Retry: "retries", Fail: "fails", Suspend: "suspends"}


@attrs.define
class Coverage:
    """How often each state, row, verdict and fault was exercised."""

    graph: Graph
    states: Counter[State] = attrs.field(factory=Counter)
    rows: Counter[Row] = attrs.field(factory=Counter)
    verdicts: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    faults: Counter[str] = attrs.field(factory=Counter)

    def take(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if isinstance(entry.record, Transition):
                self.states[entry.record.target] += 1
            elif isinstance(entry.record, Verdict):
                self.verdicts[entry.record.gate, KINDS[type(entry.record.ruling)]] += 1

    def missed(self) -> list[Row]:
        """Rows never taken; those of a failed store aside: nothing can be written about them."""
        return [row for row in self.graph if not self.rows[row] and row.event is not Event.COMMIT_FAILED]

    def silent(self) -> list[str]:
        """Verdicts that a row asks for, and that no gate ever gave."""
        asked = {
            (guard.gate.name, KINDS[guard.kind])
            for row in self.graph
            for guard in row.guards
            if isinstance(guard, Asked)
        }
        return [" ".join(pair) for pair in sorted(asked - set(self.verdicts))]

    def __str__(self) -> str:
        """A line per thing, the rarest last."""
        lines = [f"{state}: {count}" for state, count in self.states.most_common()]
        rows = [f"{count} × {told(row)}" for row, count in self.rows.most_common()]
        verdicts = [f"{gate} {word}: {count}" for (gate, word), count in self.verdicts.most_common()]
        faults = [f"{fault}: {count}" for fault, count in self.faults.most_common()]
        parts = (("states", lines), ("rows", rows), ("verdicts", verdicts), ("faults", faults))
        text = [f"{name}\n" + "\n".join(f"  {line}" for line in found) for name, found in parts if found]
        return "\n".join((*text, *(f"never taken: {told(row)}" for row in self.missed())))
