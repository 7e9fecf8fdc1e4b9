"""A session as text for a person."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from fsm import receipt
from fsm.prompts.told import loaded
from states.messages import calls_of, text_of
from states.records import (
    Approval,
    ApprovalAsked,
    AssistantTurn,
    Cancellation,
    ChainChange,
    Compaction,
    CompactionFailure,
    Delegated,
    DelegationEnded,
    Entry,
    Failed,
    Finalized,
    Forked,
    GoalChange,
    GoalSet,
    HookOutcome,
    HookResult,
    Interruption,
    OutputAccepted,
    PermissionChange,
    PlanReview,
    ProviderChange,
    Record,
    Resumed,
    RunStarted,
    Source,
    Summary,
    Suspended,
    Titled,
    ToolResult,
    TurnFailure,
    Undone,
    UserInput,
    Verdict,
    VerifierResult,
)
from states.verdicts import Pass, Retry

from .progress import label

SHOWN: Final = 20
"""Lines of a tool's output that are shown; what is left out is counted. `--json` has everything."""


def conversation(session: str, entries: Sequence[Entry]) -> Iterator[str]:
    """Paragraphs, in order. Numbers in brackets are the journal's."""
    yield f"session {session}"
    calls: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry.record, AssistantTurn):
            calls |= {call.id: label(call.name, call.arguments) for call in calls_of(entry.record.blocks)}
        said = _said(entry, entry.record, calls)
        if said:
            yield f"[{entry.seq}] {said}"
        if isinstance(entry.record, Finalized):
            lines = receipt.words(entries, entry.record)
            yield "\n".join([f"[{entry.seq}] the receipt: what this rests on", *(f"    - {line}" for line in lines)])


def _said(entry: Entry, record: Record, calls: Mapping[str, str]) -> str:
    match record:
        case RunStarted():
            return _run(entry, record)
        case UserInput(text=text, source=source):
            return f"{'user' if source is Source.INPUT else source.value}: {text}"
        case AssistantTurn(blocks=blocks):
            return _turn(text_of(blocks), [f"{call.id}: {calls[call.id]}" for call in calls_of(blocks)])
        case ToolResult(call=call, status=status, output=output, asks=asks):
            asked = f"\n    a person is asked:{_indented(asks)}" if asks else ""
            return f"{call} {status}: {calls.get(call, '')}{_indented(output)}{asked}"
        case ApprovalAsked(call=call, name=name, arguments=arguments):
            return f"{call} waits for an approval: {label(name, arguments)}"
        case Approval(call=call, granted=granted, reason=reason):
            return f"{call} {'approved' if granted else 'refused'} by a person{f': {reason}' if reason else ''}"
        case OutputAccepted(call=call, value=value):
            return f"the output that {call} hands in fits its schema: {value}"
    return _unanswered(record) or _judged(record)


def _unanswered(record: Record) -> str:
    match record:
        case TurnFailure(trouble=trouble, message=message):
            return f"no answer ({trouble}): {message}"
        case ProviderChange(model=model):
            return f"{model} is asked from now on"
        case Compaction(cause=cause, how=how, dropped=dropped, summary=summary, before=before, after=after):
            what = f"{dropped} messages are replaced" if dropped else "old output is shortened"
            counts = f"about {before} tokens became {after}"
            return f"compacted ({cause}, {how}): for the model {what}, {counts}{_indented(summary)}"
        case CompactionFailure(message=message):
            return f"could not be compacted: {message}"
        case ChainChange(models=models):
            return f"model {', then '.join(models)} from now on"
    return ""


def _judged(record: Record) -> str:
    match record:
        case Verdict(gate=gate, ruling=Retry(reason=reason)):
            return f"gate {gate} sends it back: {reason}"
        case Verdict(gate=gate, ruling=ruling) if not isinstance(ruling, Pass):
            return f"gate {gate} objects: {ruling.message}"
        case VerifierResult(session=session, judgement=judgement, said=said, unavailable=why):
            return f"the verifier says {judgement.value.upper()} (session {session}){_indented(said or why)}"
        case HookResult(event=event, hook=hook, outcome=outcome, said=said) if outcome is not HookOutcome.PASSED:
            return f"the {event} hook {hook} {outcome}{_indented(said)}"
        case Cancellation(reason=reason):
            return f"cancelled: {reason}"
        case Suspended(waits_for=waits_for, message=message):
            return f"rests, waits for {waits_for}: {message}"
        case Failed(code=code, message=message):
            return f"failed ({code}): {message}"
    return _of_session(record)


def _of_session(record: Record) -> str:
    match record:
        case PermissionChange(permission=permission, rules=rules):
            added = {"allow": rules.allow, "ask": rules.ask, "deny": rules.deny}
            said = ", ".join(f"{kind} {rule}" for kind, listed in added.items() for rule in listed)
            return f"permission is now {permission}{f'; from now on: {said}' if said else ''}"
        case Resumed():
            return "resumed"
        case GoalSet(text=text):
            return f"the goal: {text}"
        case GoalChange(word=word):
            return f"the goal, in a person's word: {word}"
    return _reported(record)


def _reported(record: Record) -> str:
    match record:
        case Summary(text=text):
            return f"where things stand, in the model's words: {text}"
        case Delegated(session=session, agent=agent, background=background):
            return f"agent {agent} begins{' in the background' if background else ''}: session {session}"
        case DelegationEnded(session=session, state=state, reason=reason, usage=usage):
            return f"session {session} {state} ({reason}), {usage.total} tokens"
        case Interruption():
            return "the process was lost; another one goes on"
        case PlanReview(approved=approved, comments=comments):
            return (
                f"the plan is {'approved' if approved else 'rejected'} by a person{f': {comments}' if comments else ''}"
            )
        case Forked(origin=origin, at=at):
            return f"forked from {origin} after its record {at}"
        case Undone(to=to, files=files):
            return f"undone by a person, back to before record {to}: {', '.join(file.path for file in files)}"
        case Titled(title=title):
            return f"titled: {title}" if title else "the title was taken away"
    return ""


def _run(entry: Entry, record: RunStarted) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.at))
    owed = ", ".join((*record.contract.checks, *record.contract.commands)) or "nothing"
    whose = f"agent {record.agent}, called by {record.parent}: " if record.agent else ""
    began = f"{whose}run {record.run} began {when}: model {record.model}, permission {record.permission}, owes {owed}"
    return "\n".join([began, *(f"    {words}" for words in loaded(record))])


def _turn(text: str, calls: Sequence[str]) -> str:
    return "\n".join([f"assistant: {text}" if text else "assistant", *(f"    {call}" for call in calls)])


def _indented(output: str) -> str:
    lines = output.rstrip("\n").split("\n")
    left = [f"… {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "".join(f"\n    {line}" for line in [*lines[:SHOWN], *left]) if output.strip() else ""
