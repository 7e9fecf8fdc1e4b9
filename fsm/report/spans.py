"""The time line: what took how long, and what waited for what. Times are those of the journal's entries."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import attrs

from fsm.visible import one_line
from states.messages import calls_of
from states.names import ENDS, RESTING, State
from states.records import (
    Approval,
    ApprovalAsked,
    AssistantTurn,
    Cancellation,
    Entry,
    Prestart,
    PrestartsDropped,
    Resumed,
    RunStarted,
    StopAnswer,
    Suspended,
    ToolIntent,
    ToolResult,
    Transition,
    TurnFailure,
    UserInput,
    Verdict,
    Verification,
)
from states.verdicts import Retry

NOTICED: Final = 0.01
"""Seconds from which gathering evidence is worth a line (our choice)."""


class Kind(StrEnum):
    TURN = "turn"
    TOOL = "tool"
    GATHERING = "gathering"
    APPROVAL = "approval"
    REST = "rest"
    LOST = "lost"


@attrs.frozen
class Span:
    """Something that took time. Seconds since the epoch; `begun` is later than `since` if it had to wait."""

    kind: Kind
    label: str
    since: float
    begun: float
    until: float
    because: str
    """What it waited for, or came after."""
    outcome: str
    seq: int


@attrs.frozen
class Bar:
    """A span on the axis of worked time: thousandths of its whole length."""

    span: Span
    offset: float
    """Worked seconds before it."""
    waited: tuple[float, float]
    worked: tuple[float, float]


@attrs.define
class _Reader:
    spans: list[Span] = attrs.field(factory=list)
    last: Entry | None = None
    after: str = "the start"
    asked: dict[str, Entry] = attrs.field(factory=dict)
    intents: dict[str, tuple[Entry, ToolIntent | Prestart]] = attrs.field(factory=dict)
    order: list[str] = attrs.field(factory=list)
    """Calls of the current turn, in the model's order."""
    turns: int = 0
    entered: float = 0.0
    resting: Span | None = None

    def take(self, entry: Entry) -> None:
        last = self.last
        if self.resting is not None:
            self.spans.append(attrs.evolve(self.resting, until=entry.at))
            self.resting = None
        elif last is not None and entry.fence > last.fence:
            self.spans.append(_pause(last, entry))
        self._read(entry, last or entry)
        within_a_turn = isinstance(entry.record, Prestart | PrestartsDropped)
        if not within_a_turn or last is None or entry.fence > last.fence:
            self.last = entry

    def _read(self, entry: Entry, last: Entry) -> None:
        match entry.record:
            case RunStarted() | UserInput():
                self.after = "your input"
            case Resumed():
                self.after = "the resume"
            case AssistantTurn(blocks=blocks, finish=finish):
                self.turns += 1
                self.order = [call.id for call in calls_of(blocks)]
                asks = f"asks for {len(self.order)} {'call' if len(self.order) == 1 else 'calls'}"
                self._turn(entry, last, asks if self.order else f"ends: {finish}")
            case TurnFailure(trouble=trouble):
                self.turns += 1
                self._turn(entry, last, f"no answer: {trouble}")
            case Cancellation(reason=reason) if self.entered:
                self.after = f"a cancellation ({one_line(reason, 40)})"
            case Verdict(gate=gate, ruling=Retry()):
                self.after = f"gate {gate} had sent it back"
            case _:
                self._read_tools(entry)

    def _turn(self, entry: Entry, last: Entry, outcome: str) -> None:
        begun = last.at if last.fence == entry.fence else entry.at  # when another process began it, nobody wrote down
        label = f"turn {self.turns}"
        if last.fence != entry.fence:
            outcome += "; when this process began it is not recorded"
        self.spans.append(Span(Kind.TURN, label, begun, begun, entry.at, f"after {self.after}", outcome, entry.seq))
        self.after = label

    def _read_tools(self, entry: Entry) -> None:
        match entry.record:
            case ApprovalAsked(call=call):
                self.asked[call] = entry
            case Approval(call=call, granted=granted) if call in self.asked:
                said = "approved" if granted else "refused"
                label = f"a person's word on {call}"
                since = self.asked[call].at
                self.spans.append(Span(Kind.APPROVAL, label, since, since, entry.at, call, said, entry.seq))
            case ToolIntent(call=call) | Prestart(call=call) as intent:
                self.intents[call] = entry, intent
            case ToolResult() as result:
                self._tool(entry, result)
            case Verification() | StopAnswer() if entry.at - self.entered >= NOTICED:
                where = "verify" if isinstance(entry.record, Verification) else "stop_hook"
                self.spans.append(
                    Span(
                        *(Kind.GATHERING, f"{where}: evidence", self.entered, self.entered, entry.at),
                        *("the candidate", "gathered", entry.seq),
                    )
                )
            case Suspended(waits_for=waits_for, message=message):
                label = f"at rest: waits for {waits_for}"
                self.resting = Span(Kind.REST, label, entry.at, entry.at, entry.at, "", one_line(message), entry.seq)
            case Transition(target=target):
                self.entered = entry.at
                if target is State.PROVIDER_TURN and self.order:
                    self.after = f"results of {', '.join(self.order)}"
                    self.order = []
            case _:
                return

    def _tool(self, entry: Entry, result: ToolResult) -> None:
        self_and_before = self.order[: self.order.index(result.call)] if result.call in self.order else []
        known = self.intents.get(result.call)
        if known is None:
            label = f"{result.call}: not started"
            self.spans.append(
                Span(
                    Kind.TOOL, label, entry.at, entry.at, entry.at, f"turn {self.turns}", str(result.status), entry.seq
                )
            )
            return
        intent_entry, intent = known
        begun = min(entry.at, max(intent_entry.at, entry.at - result.duration))
        barriers = [
            call
            for call in self_and_before
            if call in self.intents and not (_shared(intent) and _shared(self.intents[call][1]))
        ]
        because = f"waited for {', '.join(barriers)}" if barriers else f"asked for by turn {self.turns}"
        label = f"{intent.name} ({result.call})"
        self.spans.append(
            Span(Kind.TOOL, label, intent_entry.at, begun, entry.at, because, str(result.status), entry.seq)
        )


def _shared(intent: ToolIntent | Prestart) -> bool:
    return isinstance(intent, Prestart) or intent.shared


def _pause(last: Entry, entry: Entry) -> Span:
    """Between the last record of one process and the first of the next."""
    if isinstance(last.record, Transition) and last.record.target in ENDS:
        kind, label, said = Kind.REST, "between two runs", ""
    else:
        kind, label = Kind.LOST, "nobody ran it"
        said = "its process was lost, or handed over; another one went on"
    return Span(kind, label, last.at, last.at, entry.at, f"after record {last.seq}", said, entry.seq)


def spans(entries: Iterable[Entry]) -> list[Span]:
    """Everything that took time, in the order in which it began; what rests lasts until the next entry."""
    reader = _Reader()
    for entry in entries:
        if reader.resting is not None and isinstance(entry.record, Transition) and entry.record.target in RESTING:
            reader.entered = entry.at  # the move into the rest is part of it
            reader.last = entry
            continue
        reader.take(entry)
    if reader.resting is not None:
        reader.spans.append(reader.resting)
    return sorted(reader.spans, key=lambda span: (span.since, span.seq))


def bars(found: Sequence[Span]) -> tuple[list[Bar], float]:
    """The spans on one axis without the time in which nobody worked, and the worked seconds."""
    still = [(span.since, span.until) for span in found if span.kind in (Kind.REST, Kind.LOST)]
    if not found:
        return [], 0.0
    start = min(span.since for span in found)

    def worked(at: float) -> float:
        return at - start - sum(max(0.0, min(at, until) - since) for since, until in still if since < at)

    whole = max(worked(span.until) for span in found)
    scale = 1000 / whole if whole > 0 else 0.0
    placed = []
    for span in found:
        since, begun, until = worked(span.since), worked(span.begun), worked(span.until)
        placed.append(
            Bar(
                span,
                since,
                (round(since * scale, 1), round((begun - since) * scale, 1)),
                (round(begun * scale, 1), max(2.0, round((until - begun) * scale, 1))),
            )
        )
    return placed, whole
