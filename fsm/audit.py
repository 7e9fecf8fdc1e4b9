"""Re-derives a session from its own journal: every verdict, move and receipt must follow from what stood before it.

The chain of digests shows that nobody edited the journal by accident. This shows more: a forged record does not
follow, even if the chain was computed anew around it. What came from outside (the model's words, a tool's output) is
taken as it stands.
"""

from collections.abc import Sequence

import attrs

from gates.checks_passed import shown as proven_kinds
from gates.output_schema import fits
from gates.permission import permit
from gates.phrases import understanding
from states.codec import encode
from states.context import due, plan
from states.dispatch_tools import canonical, parse
from states.errors import GateError, HistoryError
from states.fallback import next_place, replacement
from states.finalize import receipt
from states.fold import apply
from states.history import History
from states.ledger import note, outline
from states.messages import calls_of
from states.names import ENDS, RESTING, Event, State
from states.records import (
    AssistantTurn,
    Cancellation,
    Cause,
    Compaction,
    Entry,
    Evidence,
    Failed,
    Finalized,
    How,
    OutputAccepted,
    Prestart,
    ProviderChange,
    Record,
    RunStarted,
    Status,
    StopAnswer,
    Suspended,
    ToolIntent,
    ToolResult,
    Transition,
    TurnFailure,
    Understood,
    Verdict,
)
from states.rules import DELEGATES, Leave
from states.verdicts import Ruling

from .digests import graph_digest
from .graph import Graph
from .machine import Decision, decide
from .reasons import reason_of


def audit(graph: Graph, entries: Sequence[Entry], session: str = "") -> list[str]:
    """What is not justified, a sentence per record, in their order; an empty list if everything is.

    `graph` must be the table that the runs were made with: with another one nothing can be derived, and that is said.
    """
    known = graph_digest(graph)
    for entry in entries:
        if isinstance(entry.record, RunStarted) and entry.record.graph != known:
            other = f"made with another table (digest {entry.record.graph[:12]}, this one has {known[:12]})"
            without = "its moves cannot be derived again without that one (--graph MODULE:NAME)"
            return [f"record {entry.seq}: run {entry.record.run} was {other}; {without}"]
    walk = _Walk(graph, History(session))
    for entry in entries:
        try:
            walk.take(entry)
        except (HistoryError, GateError) as error:
            return [*walk.found, f"{error}; what comes after it was not looked at"]
    walk.end()
    return walk.found


@attrs.define
class _Due:
    """The move that the last event calls for, and how much of it was seen."""

    decision: Decision
    fence: int
    rests_on: list[int]
    left: list[tuple[str, Ruling]]
    reason: Failed | Suspended | None = None


@attrs.define
class _Walk:
    graph: Graph
    history: History
    found: list[str] = attrs.field(factory=list)
    stopped: Cancellation = attrs.field(factory=Cancellation)
    """The last cancellation."""
    due: _Due | None = None

    def take(self, entry: Entry) -> None:
        """Check one entry against the history before it, then fold it."""
        complaint = self._of_move(entry) or _of_fact(entry, self.history)
        if complaint:
            self.found.append(f"record {entry.seq}: {complaint}")
        apply(self.history, entry)
        if isinstance(entry.record, Cancellation):
            self.stopped = entry.record
        if self.history.closing == entry.seq and self.history.closing_event is not None:
            decision = decide(self.graph, self.history.state, self.history.closing_event, self.history)
            left = [(gate.name, ruling) for gate, ruling in decision.rulings]
            self.due = _Due(decision, entry.fence, [entry.seq], left)

    def end(self) -> None:
        if self.due is not None and self.due.decision.event is not Event.RESUMED:
            self.found.append(
                f"record {self.history.seq}: it is the last one, but {self.due.decision.event} in "
                f"{self.due.decision.source} calls for a move"
            )

    def _of_move(self, entry: Entry) -> str | None:
        """What is wrong with this record as part of the move that is due, or with its place."""
        due, record = self.due, entry.record
        if due is None:
            made = isinstance(record, Verdict | Transition | Failed | Suspended)
            return f"a {_kind(record)} where nothing had happened that calls for one" if made else None
        match record:
            case Verdict():
                return _of_verdict(due, entry.seq, record)
            case Failed() | Suspended():
                due.reason = record
                return _of_reason(due.decision, record, self.stopped, self.history)
            case Transition():
                self.due = None
                return _of_transition(due, record)
            case ToolResult(status=Status.CANCELLED) if due.decision.target in ENDS:
                return None
        if entry.fence > due.fence and due.decision.source is State.SUSPENDED:  # lost before the move: resumed again
            self.due = None
            return None
        return f"a {_kind(record)} between what happened and the move that it calls for"


def _of_verdict(due: _Due, seq: int, record: Verdict) -> str | None:
    due.rests_on.append(seq)
    if not due.left:
        return f"gate {record.gate} was not asked here"
    gate, ruling = due.left.pop(0)
    if gate != record.gate:
        return f"a verdict of {record.gate}, where {gate} had to be asked"
    if encode(Verdict(gate, ruling)) != encode(record):
        return f"gate {gate} rules {_said(ruling)} on what stood before it, not {_said(record.ruling)}"
    return None


def _of_reason(decision: Decision, record: Failed | Suspended, stopped: Cancellation, history: History) -> str | None:
    if decision.target is not (State.FAILED if isinstance(record, Failed) else State.SUSPENDED):
        return f"{_kind(record)}, but the table leads to {decision.target}"
    (due,) = reason_of(decision, stopped, history)
    if isinstance(due, Suspended) and isinstance(record, Suspended) and not record.summary:
        due = attrs.evolve(due, summary="")  # written before there were summaries
    if encode(due) == encode(record):
        return None
    if decision.event is Event.CANCELLED:
        return "the run was cancelled, and this gives another reason"
    gate = due.gate if isinstance(due, Failed | Suspended) else ""
    return f"gate {gate} gave another reason than this"


def _of_transition(due: _Due, record: Transition) -> str | None:
    decision = due.decision
    if due.left:
        return f"a move without asking gate {due.left[0][0]}"
    if (record.source, record.event, record.target) != (decision.source, decision.event, decision.target):
        return (
            f"the table leads from {decision.source} on {decision.event} to {decision.target}, "
            f"not from {record.source} on {record.event} to {record.target}"
        )
    if record.rests_on != tuple(due.rests_on):
        return f"the move rests on {_numbers(due.rests_on)}, not on {_numbers(record.rests_on)}"
    if record.target in (State.FAILED, State.SUSPENDED) and due.reason is None:
        return f"a move to {record.target} that gives no reason"
    return None


def _of_fact(entry: Entry, history: History) -> str | None:  # noqa: PLR0911  one line per kind
    """What is wrong with a record that states something which the history before it can tell."""
    if history.started is None and not isinstance(entry.record, RunStarted):
        return "a record before the start of any run"
    match entry.record:
        case AssistantTurn() | Prestart() as record:
            return _of_turn(history, record, entry.seq)
        case ProviderChange() | TurnFailure():
            return _of_chain(history, entry.record)
        case Compaction() as made:
            return _of_compaction(history, made)
        case ToolIntent() as intent:
            return _of_intent(history, intent)
        case Evidence() as evidence:
            return _of_evidence(history, evidence)
        case OutputAccepted(value=value) if not fits(history.contract.output_schema, value):
            return "an output is accepted that does not fit the schema"
        case Understood() as understood:
            words = understanding(history, history.last_words) if history.last_input == entry.seq - 1 else None
            return None if words == understood else "something was understood that the last input does not say"
        case StopAnswer(sealed=sealed) if sealed != history.noted:
            return f"inputs are sealed up to {sealed}, but the last one taken is {history.noted}"
        case Finalized() as final:
            written = receipt(history, final.revision)
            return None if encode(written) == encode(final) else _receipt_differs(written, final)
    return None


def _of_turn(history: History, record: Prestart | AssistantTurn, seq: int) -> str | None:
    """Whether the calls that ran ahead are those that the turn then asks for. The fold looks at their places."""
    if isinstance(record, Prestart):
        if _spelled(record.arguments) != record.arguments:
            return f"call {record.call} was started oddly"
        found = permit(history, record.name, parse(record.arguments), reads=True)
        return None if found.leave is Leave.ALLOW else f"call {record.call} was started early, against: {found.why}"
    if record.saw >= seq:
        return f"a turn that saw record {record.saw}, which did not exist yet"
    for call in calls_of(record.blocks):
        early = history.early.get(call.id)
        if early is not None and _spelled(call.arguments) != early.record.arguments:
            return f"call {call.id} was started early with {early.record.arguments}; the model asked otherwise"
    return None


def _spelled(arguments: str) -> str | None:
    """Canonical; None for what is no JSON."""
    try:
        return canonical(parse(arguments))
    except ValueError:
        return None


def _of_chain(history: History, record: ProviderChange | TurnFailure) -> str | None:
    if isinstance(record, ProviderChange):
        due = next_place(history)
        other = (record.place, record.model) != due
        return f"provider {record.place} ({record.model}) is called in; the next one was {due[1]}" if other else None
    due_now = history.change is None and replacement(history, record, history.epoch) is not None
    return "a failed turn after which the next provider had to be called in" if due_now else None


def _of_compaction(history: History, made: Compaction) -> str | None:
    """Whether it was called for, leaves what had to stay, and says what was asked as it was asked."""
    called_for = history.state in RESTING if made.cause is Cause.ASKED else due(history) is made.cause
    wanted = plan(history, made.cause)
    if not called_for or wanted is None:
        return "a compaction that nothing calls for"
    if (wanted.cut, wanted.trim, wanted.keep) != (made.dropped, made.trimmed, made.keep):
        return f"{made.dropped} messages are compacted and {len(made.trimmed)} shortened; others were due"
    if not made.dropped:
        return None
    said = note(history, outline(history.messages[: made.dropped]) if made.how is How.OUTLINE else "")
    whole = made.summary == said if made.how is How.OUTLINE else made.summary.startswith(said)
    return None if whole else "a compaction that does not say what was asked for"


def _of_intent(history: History, intent: ToolIntent) -> str | None:
    call, name, arguments = intent.call, intent.name, intent.arguments
    state = history.calls.get(call)
    if state is None:
        return None  # the fold says so in its own words
    asked = _spelled(state.sent)
    if asked is None:
        return f"call {call} was started with arguments that are no JSON"
    if (name, arguments) != (state.call.name, asked):
        return f"call {call} was started as {name} {arguments}; the model asked for {state.call.name} {asked}"
    found = permit(history, name, parse(arguments), reads=intent.read_only, delegates=intent.leave == DELEGATES)
    granted = state.approval is not None and state.approval.granted
    if found.leave is Leave.DENY or (found.leave is Leave.ASK and not granted):
        return f"call {call} was started, against: {found.why}"
    return None


def _of_evidence(history: History, evidence: Evidence) -> str | None:
    shown = {run.result: run for run in history.commands}.get(evidence.result)
    if shown is None:
        return f"evidence for which result {evidence.result} shows no command"
    said = (evidence.command, evidence.exit_status, evidence.revision)
    if said != (shown.command, shown.exit_status, shown.revision):
        return f"evidence that result {evidence.result} does not show"
    beyond = sorted(set(evidence.kinds) - set(proven_kinds(history, evidence.command)))
    return f"the command {evidence.command!r} is no proof of {beyond[0]}" if beyond else None


def _receipt_differs(written: Finalized, final: Finalized) -> str:
    names = [field.name for field in attrs.fields(Finalized)]
    differ = [name for name in names if getattr(written, name) != getattr(final, name)]
    return f"the receipt's {' and '.join(differ)} is not what the run shows"


def _kind(record: Record) -> str:
    return type(record).__name__.lower()


def _said(ruling: Ruling) -> str:
    detail = next((str(value) for value in attrs.astuple(ruling, recurse=False) if value), "")
    return f"{type(ruling).__name__.lower()}{f' ({detail})' if detail else ''}"


def _numbers(seqs: Sequence[int]) -> str:
    return ", ".join(map(str, seqs)) or "nothing"
