"""What a run shows while it goes on: a tagged union. `seq` is set exactly when the fact is durable.

A provider turn ends with `stream_end`, which can come many times; a run ends with exactly one `run_end`.
"""

import attrs

from states.messages import Finish, Usage, calls_of
from states.names import Event as Happening
from states.names import State
from states.records import (
    ApprovalAsked,
    AssistantTurn,
    Cancellation,
    Cause,
    Compaction,
    Delegated,
    DelegationEnded,
    Entry,
    HookOutcome,
    HookResult,
    How,
    Judgement,
    Metadata,
    Prestart,
    PrestartsDropped,
    ProviderChange,
    RunStarted,
    Source,
    Status,
    ToolIntent,
    ToolResult,
    Transition,
    TurnDiscarded,
    TurnFailure,
    Understood,
    UserInput,
    Verdict,
    VerifierResult,
    VerifierStarted,
)
from states.verdicts import Ruling

from .result import Result


@attrs.frozen
class RunStart:
    seq: int
    session: str
    run: int
    notices: tuple[str, ...] = ()
    """What the system prompt lacks, and why: instructions that are not trusted, files that were cut."""


@attrs.frozen
class RunResumed:
    """A run that had begun goes on; the first event of a resume."""

    session: str
    run: int
    seq: None = None


@attrs.frozen
class InputTaken:
    """An input is in the journal: the model will see it."""

    seq: int
    text: str
    source: Source


@attrs.frozen
class Understanding:
    """What the last input was understood to ask for: checks that the run now owes, unless `not_owed` says why not."""

    seq: int
    kinds: tuple[str, ...]
    phrases: tuple[str, ...]
    waived: tuple[str, ...] = ()
    not_owed: str = ""


@attrs.frozen
class TurnStart:
    """The provider is being asked. `turn` counts the run's turns from 1."""

    turn: int
    seq: None = None


@attrs.frozen
class Delta:
    """Part of an answer that may still be discarded."""

    text: str
    reasoning: bool = False
    seq: None = None


@attrs.frozen
class ProviderRetry:
    """The provider is asked again in `delay` seconds; nothing of an answer had been seen."""

    attempt: int
    delay: float
    message: str
    seq: None = None


@attrs.frozen
class StreamEnd:
    """A provider turn is over. Without an answer, `trouble` says why; `calls` is how many tools it asks for."""

    seq: int
    finish: Finish | None
    usage: Usage = Usage()
    calls: int = 0
    trouble: str = ""


@attrs.frozen
class Discarded:
    """What was shown of the current answer is void."""

    seq: int
    reason: str


@attrs.frozen
class ProviderChanged:
    """From now on another provider of the chain is asked."""

    seq: int
    model: str
    reason: str


@attrs.frozen
class Compacting:
    """The model is asked for a ledger that stands for the older part of the conversation."""

    cause: Cause
    seq: None = None


@attrs.frozen
class Compacted:
    """For the model, a ledger stands for `dropped` messages; `before` and `after` are tokens, as far as known."""

    seq: int
    cause: Cause
    how: How
    dropped: int
    before: int
    after: int
    usage: Usage = Usage()


@attrs.frozen
class ApprovalNeeded:
    seq: int
    call: str
    name: str
    arguments: str


@attrs.frozen
class ToolStart:
    seq: int
    call: str
    name: str
    arguments: str


@attrs.frozen
class ToolsDropped:
    """Calls that had started while their answer was streamed are void, since it did not come. Their ids come again."""

    seq: int
    calls: int
    reason: str


@attrs.frozen
class ToolProgress:
    """Lines that a running tool printed, at most twenty events a second; `dropped` older ones were left out."""

    call: str
    text: str
    dropped: int = 0
    seq: None = None


@attrs.frozen
class ToolEnd:
    seq: int
    call: str
    status: Status
    output: str
    metadata: Metadata
    duration: float
    asks: str = ""
    """What a person has to confirm or answer before the run goes on."""


@attrs.frozen
class AgentStart:
    """A call has an agent work, in the session `agent_session`."""

    seq: int
    agent: str
    agent_session: str
    background: bool = False


@attrs.frozen
class AgentEnd:
    """An agent's run ended or rests; `usage` is all that it has used up so far."""

    seq: int
    agent_session: str
    state: State
    reason: str
    usage: Usage = Usage()


@attrs.frozen
class VerifierStart:
    """Somebody who had no part in the work begins to look at it, in the session `verifier_session`."""

    seq: int
    gate: str
    verifier_session: str


@attrs.frozen
class VerifierEnd:
    """What it says; `unavailable` is why it says nothing."""

    seq: int
    gate: str
    judgement: Judgement
    said: str
    unavailable: str = ""


@attrs.frozen
class HookAnswered:
    """A hook of the host answered: about `call`, or, where that is empty, a run's end or a session."""

    seq: int
    call: str
    event: str
    hook: str
    outcome: HookOutcome
    said: str


@attrs.frozen
class Ruled:
    seq: int
    gate: str
    ruling: Ruling


@attrs.frozen
class Moved:
    seq: int
    source: State
    event: Happening
    target: State


@attrs.frozen
class Interrupted:
    """The run was stopped; an answer that was being shown is void."""

    seq: int
    reason: str


@attrs.frozen
class RunEnd:
    """The last event. `seq` is None only if the store failed: then nothing about the end is durable."""

    seq: int | None
    result: Result


Event = (
    RunStart
    | RunResumed
    | InputTaken
    | Understanding
    | TurnStart
    | Delta
    | ProviderRetry
    | StreamEnd
    | Discarded
    | ProviderChanged
    | Compacting
    | Compacted
    | ApprovalNeeded
    | ToolStart
    | ToolsDropped
    | ToolProgress
    | ToolEnd
    | AgentStart
    | AgentEnd
    | VerifierStart
    | VerifierEnd
    | HookAnswered
    | Ruled
    | Moved
    | Interrupted
    | RunEnd
)


def announce(entry: Entry, session: str) -> Event | None:  # noqa: C901, PLR0911, PLR0912  one line per kind
    """What a durable entry tells the outside; None for bookkeeping."""
    seq = entry.seq
    match entry.record:
        case RunStarted(run=run, layers=layers):
            notices = tuple(f"{layer.origin}: {layer.note}" for layer in layers if layer.note)
            return RunStart(seq, session, run, notices)
        case UserInput(text=text, source=source):
            return InputTaken(seq, text, source)
        case Understood(kinds=kinds, phrases=phrases, waived=waived, not_owed=not_owed):
            return Understanding(seq, kinds, phrases, waived, not_owed)
        case AssistantTurn(blocks=blocks, finish=finish, usage=usage):
            return StreamEnd(seq, finish, usage, len(calls_of(blocks)))
        case TurnFailure(message=message):
            return StreamEnd(seq, None, trouble=message)
        case TurnDiscarded(reason=reason):
            return Discarded(seq, reason)
        case ProviderChange(model=model, reason=reason):
            return ProviderChanged(seq, model, reason)
        case Compaction() as made:
            return Compacted(seq, made.cause, made.how, made.dropped, made.before, made.after, made.usage)
        case ApprovalAsked(call=call, name=name, arguments=arguments):
            return ApprovalNeeded(seq, call, name, arguments)
        case PrestartsDropped(reason=reason, fates=fates):
            return ToolsDropped(seq, len(fates), reason)
        case (
            ToolIntent(call=call, name=name, arguments=arguments) | Prestart(call=call, name=name, arguments=arguments)
        ):
            return ToolStart(seq, call, name, arguments)
        case ToolResult() as result:
            return ToolEnd(
                seq, result.call, result.status, result.output, result.metadata, result.duration, result.asks
            )
        case Delegated(session=child, agent=agent, background=background):
            return AgentStart(seq, agent, child, background)
        case DelegationEnded(session=child, state=state, reason=reason, usage=usage):
            return AgentEnd(seq, child, state, reason, usage)
        case VerifierStarted(gate=gate, session=verifier):
            return VerifierStart(seq, gate, verifier)
        case VerifierResult() as said:
            return VerifierEnd(seq, said.gate, said.judgement, said.said, said.unavailable)
        case HookResult() as told:
            return HookAnswered(seq, told.call, told.event, told.hook, told.outcome, told.said)
        case Cancellation(reason=reason):
            return Interrupted(seq, reason)
        case Verdict(gate=gate, ruling=ruling):
            return Ruled(seq, gate, ruling)
        case Transition(source=source, event=event, target=target):
            return Moved(seq, source, event, target)
        case _:
            return None
