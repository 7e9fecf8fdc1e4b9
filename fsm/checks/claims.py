"""What must be true of every step of every run. Each claim is a plain function and has a twin that says when it bit.

A claim gets the history before a step, the step, and the history after it; it answers None, or a sentence that says
what is wrong. Claims state facts about records, not about gates: they share no code with what they check.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from fsm.graph import Graph
from gates.gate import Asked
from states.contract import Permission
from states.history import CallState, History
from states.messages import AssistantMessage, Finish, Message, ToolMessage, UserMessage, calls_of, text_of
from states.names import ENDS, Event, State
from states.output import STRUCTURED_OUTPUT, schema_digest
from states.provider_turn import request_of
from states.records import (
    AssistantTurn,
    Compaction,
    Failed,
    HookOutcome,
    Judgement,
    Prestart,
    PrestartsDropped,
    ProviderChange,
    Suspended,
    ToolIntent,
    ToolResult,
    Transition,
    TurnDiscarded,
    Verdict,
)
from states.stopping import GOAL_MET
from states.verdicts import Fail, Pass, Retry, Suspend, WaitsFor

from .moves import Move

Claim = Callable[[History, Move, History], str | None]
Twin = Callable[[History, Move, History], bool]

JUDGED: Final = (State.CANDIDATE_FINAL, State.VERIFY, State.STOP_HOOK)
"""States in which a candidate is judged by completion gates, in their order."""
UNFINISHED: Final = (Finish.LENGTH, Finish.FILTERED, Finish.PAUSED)
"""Ends of a turn that is not the model's last word."""
WORKING: Final = (State.PROVIDER_TURN, State.DISPATCH_TOOLS)
"""States in which more is spent."""


def _entered(move: Move, *targets: State) -> bool:
    transition = move.transition
    return transition is not None and transition.target in targets


def _verdicts(move: Move) -> dict[str, object]:
    return {record.gate: record.ruling for record in move.records if isinstance(record, Verdict)}


def spent(history: History) -> bool:
    """Whether any limit of the run's budget is reached."""
    budget, infinite = history.budget, float("inf")
    return (
        history.turns >= (budget.max_turns or infinite)
        or history.usage.total >= (budget.tokens or infinite) - (budget.reserve or 0)
        or history.usage.input >= (budget.input_tokens or infinite)
        or history.usage.output >= (budget.output_tokens or infinite)
        or history.usage.reasoning >= (budget.reasoning_tokens or infinite)
        or history.cost >= (budget.cost or infinite)
        or (budget.cost is not None and bool(history.unpriced))
        or history.delegated > (budget.max_delegated or infinite)
        or history.seconds >= (budget.seconds or infinite)
        or history.tool_calls > (budget.max_tool_calls or infinite)
    )


def refused(history: History) -> bool:
    """Whether a stop hook refused the candidate that is judged."""
    return any(said.outcome is HookOutcome.DENIED for _, said in history.stop_hooks)


# --- success ----------------------------------------------------------------------------------------------------


def success_has_a_receipt(before: History, move: Move, now: History) -> str | None:
    """`succeeded` is entered only with a receipt for the last candidate, on an unchanged workspace."""
    if not _entered(move, State.SUCCEEDED):
        return None
    receipt, verification = now.receipt, now.verification
    if receipt is None or receipt.candidate != now.candidate or not now.candidate:
        return "there is no receipt for the last candidate"
    if verification is None or verification.candidate != now.candidate:
        return "what the receipt rests on was not verified"
    if verification.revision not in ("", receipt.revision):
        return "the receipt's workspace is not the verified one"
    if now.stop_answer is None or now.stop_answer.candidate != now.candidate:
        return "the inbox was not sealed for this candidate"
    if now.contract.output_schema:
        return None  # its words are the output's: see the next claim but one
    if now.turn is None or not receipt.text.endswith(text_of(now.turn.blocks)) or now.turn.finish in UNFINISHED:
        return "the receipt does not end in the words of the last, whole turn"
    return None


def success_hands_in_its_output(before: History, move: Move, now: History) -> str | None:
    """A run that owes a structured output ends with one of its schema, newer than every input, on its workspace."""
    if not _entered(move, State.SUCCEEDED) or not now.contract.output_schema:
        return None
    receipt, output = now.receipt, now.output
    if receipt is None or output is None or output.seq not in receipt.evidence:
        return "the receipt names no output that was handed in"
    if output.seq < now.last_input:
        return f"the output {output.seq} is older than input {now.last_input}"
    if output.accepted.schema != schema_digest(now.contract.output_schema):
        return "the output was handed in under another schema"
    if output.accepted.value != receipt.text:
        return "the receipt's words are not the output"
    moved = output.accepted.revision != receipt.revision
    return "the workspace is not the one that the output was handed in on" if moved else None


def success_rests_on_evidence(before: History, move: Move, now: History) -> str | None:
    """Whatever the contract asks for is shown by evidence that the receipt names, on the receipt's revision."""
    if not _entered(move, State.SUCCEEDED) or now.receipt is None:
        return None
    named = [now.evidence[seq] for seq in now.receipt.evidence if seq in now.evidence]
    good = [item for item in named if item.exit_status == 0 and item.revision == now.receipt.revision != ""]
    for kind in now.contract.checks:
        if not any(kind in item.kinds for item in good):
            return f"no evidence of a passing {kind} on the final workspace"
    for command in now.contract.commands:
        if not any(item.command.strip() == command for item in good):
            return f"no evidence of `{command}` on the final workspace"
    return None


def success_answers_every_input(before: History, move: Move, now: History) -> str | None:
    """No step toward success is made where inputs are judged, and none into it, over an unanswered input."""
    if _entered(move, State.VERIFY, State.FINALIZE, State.SUCCEEDED) and not (
        now.turn is not None and now.last_input <= now.turn.saw
    ):
        return f"input {now.last_input} was never in front of the model"
    return None


def passes_of(graph: Graph) -> Mapping[State, frozenset[str]]:
    """Names of the completion gates that `graph` asks, by the state in which a candidate is judged."""
    return {
        state: frozenset(
            guard.gate.name
            for row in graph
            if row.source is state
            for guard in row.guards[: 1 if row.target in (*WORKING, State.SUSPENDED) else None]
            if isinstance(guard, Asked)
        )
        for state in JUDGED
    }


def gates_were_asked(required: Mapping[State, frozenset[str]]) -> Claim:
    """Makes the claim that a candidate moves on only with a fresh pass of every gate of its state.

    required: names by state, as `passes_of` finds them in the table that is meant.
    """
    everything = frozenset[str]().union(*required.values())

    def every_gate_passed(before: History, move: Move, now: History) -> str | None:
        transition = move.transition
        if transition is None or transition.target not in (*JUDGED, State.FINALIZE, State.SUCCEEDED):
            return None
        ruled = _verdicts(move)
        for name in sorted(required.get(transition.source, frozenset())):
            if not isinstance(ruled.get(name), Pass):
                return f"{transition.source} is left toward success without a pass of {name}"
        if transition.target is not State.SUCCEEDED or now.receipt is None:
            return None
        for name in sorted(everything):
            seq, ruling = now.verdicts.get(name, (0, None))
            if not isinstance(ruling, Pass) or seq not in now.receipt.verdicts or seq <= now.candidate:
                return f"the receipt names no pass of {name} on the last candidate"
        return None

    return every_gate_passed


def success_is_no_plan(before: History, move: Move, now: History) -> str | None:
    """A run that only plans is not done. Claimed of tables that have a gate for planning."""
    planning = now.permission is Permission.PLAN
    return "a plan is called done" if planning and _entered(move, State.SUCCEEDED) else None


def success_is_not_refused(before: History, move: Move, now: History) -> str | None:
    """No stop hook refused it, and the workspace is the one that they saw. Claimed of tables that ask stop hooks."""
    if not _entered(move, State.FINALIZE, State.SUCCEEDED):
        return None
    if refused(now):
        return "a stop hook refused it"
    ended = now.state is State.SUCCEEDED and now.receipt is not None
    seen = {said.revision for _, said in now.stop_hooks if said.revision}
    return "the stop hooks saw another workspace" if ended and now.receipt and seen - {now.receipt.revision} else None


def success_reaches_its_goal(before: History, move: Move, now: History) -> str | None:
    """A session's open goal was found to be reached, on the receipt's workspace. Claimed of tables that ask for it."""
    if not _entered(move, State.SUCCEEDED) or not before.pursues_goal:
        return None
    said = [word for gate, (_, word) in now.opinions.items() if gate == GOAL_MET]
    found = [word for word in said if word.judgement is Judgement.PASS]
    if now.receipt is None or not now.receipt.goal or not found:
        return "nobody found that its goal is reached"
    return None if found[0].revision == now.receipt.revision != "" else "its goal was reached on another workspace"


# --- moves ------------------------------------------------------------------------------------------------------


def objections_are_obeyed(before: History, move: Move, now: History) -> str | None:
    """A gate that objected decides where the run goes, and the first one says why."""
    transition = move.transition
    if transition is None:
        return None
    for name, ruling in _verdicts(move).items():
        if isinstance(ruling, Fail) and transition.target is not State.FAILED:
            return f"{name} fails the run, which goes on to {transition.target}"
        if isinstance(ruling, Suspend) and transition.target is not State.SUSPENDED:
            return f"{name} suspends the run, which goes on to {transition.target}"
        if isinstance(ruling, Retry) and transition.target not in (State.PROVIDER_TURN, State.SUSPENDED):
            return f"{name} sends the run back to the model, but it goes to {transition.target}"
    reason = next((record for record in move.records if isinstance(record, Failed | Suspended)), None)
    first = next((name for name, ruling in _verdicts(move).items() if isinstance(ruling, Fail | Suspend)), None)
    if reason is not None and first is not None and reason.gate != first:
        return f"{first} objects first, and the reason is that of {reason.gate or 'nobody'}"
    return None


def moves_are_justified(before: History, move: Move, now: History) -> str | None:
    """What a state is for has happened when it is entered: each target has facts that must be true."""
    made = move.transition
    if made is None:
        return None
    holds = _JUSTIFIED[made.target](before, made, move)
    return None if holds else f"{made.source} is left for {made.target} on {made.event}, for no reason"


def _whole(history: History) -> bool:
    return history.turn is not None and history.turn.finish not in (Finish.LENGTH, Finish.FILTERED)


def _done(history: History) -> bool:
    if history.turn is None or history.calls:
        return False
    cut = history.turn.finish is Finish.LENGTH and history.output is not None  # its words are not the result
    return cut or history.turn.finish not in UNFINISHED


def _back_to_the_model(history: History, made: Transition, move: Move) -> bool:
    if history.unanswered:
        return False
    if made.event is Event.RESUMED:
        return True
    if made.event is Event.SETTLED:
        return True
    return any(isinstance(ruling, Retry) for ruling in _verdicts(move).values())


_JUSTIFIED: Final[Mapping[State, Callable[[History, Transition, Move], bool]]] = {
    State.PROVIDER_TURN: _back_to_the_model,
    State.DISPATCH_TOOLS: lambda history, made, move: (
        history.unanswered > 0 and (made.event is Event.RESUMED or (made.event is Event.REPLIED and _whole(history)))
    ),
    State.AWAIT_RESULTS: lambda history, made, move: (
        made.event is Event.DISPATCHED and all(call.intent is not None for call in history.open_calls())
    ),
    State.CANDIDATE_FINAL: lambda history, made, move: (
        (made.event is Event.REPLIED and _done(history))
        or (made.event is Event.SETTLED and history.output_of_turn and not history.unanswered)
    ),
    State.VERIFY: lambda history, made, move: made.event is Event.SUBMITTED and history.candidate > 0,
    State.STOP_HOOK: lambda history, made, move: made.event is Event.VERIFIED and history.verification is not None,
    State.FINALIZE: lambda history, made, move: made.event is Event.ANSWERED and history.stop_answer is not None,
    State.SUCCEEDED: lambda history, made, move: made.event is Event.FINALIZED and history.receipt is not None,
    State.FAILED: lambda history, made, move: any(isinstance(ruling, Fail) for ruling in _verdicts(move).values()),
    State.SUSPENDED: lambda history, made, move: (
        made.event is Event.CANCELLED or any(isinstance(ruling, Suspend) for ruling in _verdicts(move).values())
    ),
}


def evidence_is_spent_once(before: History, move: Move, now: History) -> str | None:
    """A move rests on what happened since the move before it, and on nothing older."""
    made = move.transition
    if made is None:
        return None
    fresh = before.unspent | set(range(before.seq + 1, now.seq))
    if before.closing not in made.rests_on and before.closing:
        return f"the move does not rest on record {before.closing}, which caused it"
    stale = sorted(set(made.rests_on) - fresh)
    return f"the move rests on {stale}, spent before" if stale or now.unspent else None


def ends_are_final(before: History, move: Move, now: History) -> str | None:
    """Nothing leads out of an end but a new run."""
    return f"{before.state} was left" if before.state in ENDS and move.transition is not None else None


def questions_are_answered_first(before: History, move: Move, now: History) -> str | None:
    """The model is not asked, and nothing is started, while a tool's question waits for a person."""
    if now.questions and _entered(move, *WORKING):
        return f"record {now.questions[0].result} asks a person, and nobody has answered"
    return None


def work_is_paid_for(before: History, move: Move, now: History) -> str | None:
    """The model is asked again, and tools are started, only while there is budget."""
    asked = {state.call.name for state in now.calls.values()} if _entered(move, State.DISPATCH_TOOLS) else set()
    if asked == {STRUCTURED_OUTPUT}:
        return None  # to hand in the result is no more work
    return "work goes on without budget" if _entered(move, *WORKING) and spent(now) else None


def cycles_count(before: History, move: Move, now: History) -> str | None:
    """A run that is sent back to the model has used a turn or a retry: no cycle is free."""
    made = move.transition
    if made is None or made.target is not State.PROVIDER_TURN or made.event is Event.RESUMED:
        return None
    counted = now.turns > 0 if made.event is not Event.TURN_FAILED else now.retries.total() > before.retries.total()
    return None if counted else "the run goes round without counting"


# --- calls and words --------------------------------------------------------------------------------------------


def no_turn_over_open_calls(before: History, move: Move, now: History) -> str | None:
    """The model is never asked, and no run ends, while a call is open."""
    idle = (State.PROVIDER_TURN, State.CANDIDATE_FINAL, State.VERIFY, State.STOP_HOOK, State.FINALIZE, *ENDS)
    if now.state in idle and now.closing_event is None and now.unanswered:
        return f"{now.unanswered} calls are open in {now.state}"
    return None


def every_call_is_answered_once(before: History, move: Move, now: History) -> str | None:
    """The next request pairs each call with exactly one answer, in the model's order, and asks for something."""
    if now.state is not State.PROVIDER_TURN or now.closing_event is not None or now.started is None:
        return None
    messages = request_of(now, ()).messages
    complaint = unpaired(messages)
    goes_on = now.turn is not None and now.turn.finish is Finish.PAUSED
    if not complaint and not goes_on and move.transition is not None and isinstance(messages[-1], AssistantMessage):
        return "the next request ends in the model's own words"
    return complaint


def unpaired(messages: Iterable[Message]) -> str | None:
    """What is wrong with the calls and answers of a request; None if each call has its one answer, in order."""
    due: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            if not due or message.call_id != due.pop(0):
                return f"an answer to {message.call_id} where none is due"
        elif due:
            return f"no answer to {due[0]} before the next message"
        elif isinstance(message, AssistantMessage):
            due = [call.id for call in calls_of(message.blocks)]
            if seen & set(due) or len(set(due)) < len(due):
                return f"a call's id is used twice: {due}"
            seen |= set(due)
    return f"no answer to {due[0]}" if due else None


def old_epochs_stay_out(before: History, move: Move, now: History) -> str | None:
    """What an older generation still delivers never enters the conversation."""
    epoch = before.epoch
    for record in move.records:
        if isinstance(record, PrestartsDropped | TurnDiscarded):
            epoch = record.epoch
        if isinstance(record, ToolResult | ToolIntent | Prestart | AssistantTurn) and record.epoch != epoch:
            return f"a {type(record).__name__} of epoch {record.epoch} in epoch {epoch}"
    return None


def hooks_are_heeded(before: History, move: Move, now: History) -> str | None:
    """No call starts that a hook denied, or for which it wanted a person who has not agreed, or not as it made it."""
    for record in move.records:
        state = now.calls.get(record.call) if isinstance(record, ToolIntent) else None
        if state is None or not isinstance(record, ToolIntent):
            continue
        outcomes = {said.outcome for said in state.hooks}
        agreed = state.approval is not None and state.approval.granted
        if HookOutcome.DENIED in outcomes or (HookOutcome.ASKED in outcomes and not agreed):
            return f"{record.call} starts over its hook"
        if any(said.arguments for said in state.hooks) and record.arguments != state.sent:
            return f"{record.call} starts with other input than a hook made of it"
    return None


def early_starts_end_with_their_turn(before: History, move: Move, now: History) -> str | None:
    """What started ahead of a turn is a call of it once it is there, or was dropped, and an epoch with it."""
    if now.early and (move.transition is not None or now.closing_event is not None):
        return f"{', '.join(now.early)} started ahead of a turn, which is over"
    gone = [early.intent for call, early in before.early.items() if call not in now.early]
    kept = [state.intent for state in now.calls.values()]
    fates = [fate.intent for record in move.records if isinstance(record, PrestartsDropped) for fate in record.fates]
    for intent in gone:
        if (intent in kept) + fates.count(intent) != 1:
            return f"nobody says, or more than once, what became of the early start {intent}"
    return "what started early was dropped within its epoch" if fates and now.epoch == before.epoch else None


def a_change_of_provider_ends_the_epoch(before: History, move: Move, now: History) -> str | None:
    """Another provider is asked in an epoch of its own, and no more often than there are providers."""
    changes = [record for record in move.records if isinstance(record, ProviderChange)]
    if changes and now.epoch == before.epoch:
        return f"{changes[0].model} is asked in the epoch of the one before it"
    if now.passed_over >= max(1, len(now.models)):
        return f"{now.passed_over} providers were given up, of {len(now.models)}"
    return None


def what_was_asked_survives(before: History, move: Move, now: History) -> str | None:
    """A compaction leaves the user's words where the model reads them."""
    if not any(isinstance(record, Compaction) for record in move.records):
        return None
    seen = "\n".join(message.text for message in (*now.messages, *now.held) if isinstance(message, UserMessage))
    return None if now.last_words in seen else "the last input is gone"


def no_start_without_leave(before: History, move: Move, now: History) -> str | None:
    """A call that was put before a person starts only if they agreed; one that a rule denies never does."""
    for record in move.records:
        if isinstance(record, ToolIntent):
            state = now.calls[record.call]
            granted = state.approval is not None and state.approval.granted
            if state.asked and not granted:
                return f"{record.call} starts without the approval that it asked for"
            asks = now.permission is not Permission.FULL and not record.read_only and not granted
            if asks and record.leave.removeprefix("allow ") not in now.rules.allow:
                return f"{record.call} starts unasked under permission {now.permission}"
            if any(_means(rule, state) for rule in now.rules.deny):
                return f"{record.call} starts, which a rule denies"
    return None


def _means(rule: str, state: CallState) -> bool:
    """A rule about a whole tool, or about one plain argument: as much as can be told without reading a text."""
    name, _, rest = rule.partition("(")
    argument, _, value = rest.removesuffix(")").partition("=")
    return name == state.call.name and (not rest or f'"{argument}":{value}' in state.arguments)


# --- rests and ends ---------------------------------------------------------------------------------------------


def rests_are_explained(before: History, move: Move, now: History) -> str | None:
    """A resting run says what it waits for, and that is true."""
    if not _entered(move, State.SUSPENDED):
        return None
    rest = now.rest
    if rest is None or not rest.message or rest not in move.records:
        return "the run rests and does not say why"
    asked = any(call.asked and call.approval is None for call in now.open_calls())
    lies = {
        WaitsFor.APPROVAL: not asked,
        WaitsFor.BUDGET: not spent(now),
        WaitsFor.PROVIDER: now.trouble is None,
        WaitsFor.PLAN_REVIEW: now.plan is None,
        WaitsFor.ANSWER: not now.questions
        and now.permission is not Permission.PLAN
        and not (refused(before) or before.pursues_goal),
        WaitsFor.RESUME: before.closing_event is not Event.CANCELLED,
    }
    return f"it says that it waits for {rest.waits_for}, which is not so" if lies.get(rest.waits_for) else None


def failures_are_explained(before: History, move: Move, now: History) -> str | None:
    """A failed run names the gate and a reason."""
    if not _entered(move, State.FAILED):
        return None
    failure = now.failure
    if failure is None or not failure.code or not failure.message or failure not in move.records:
        return "the run failed and does not say why"
    ruling = _verdicts(move).get(failure.gate)
    if not isinstance(ruling, Fail) or ruling.code != failure.code:
        return f"it names {failure.gate or 'no gate'}, which did not fail it"
    return None


def reasons_are_not_left_over(before: History, move: Move, now: History) -> str | None:
    """A run that works does not carry the reason of an earlier rest, nor one that goes on a failure."""
    if now.rest is not None and _entered(move, *(state for state in State if state is not State.SUSPENDED)):
        return f"in {now.state} the run still says that it waits for {now.rest.waits_for}"
    return None


TWINS: Final[Mapping[Claim, Twin]] = {
    success_has_a_receipt: lambda before, move, now: now.state is State.SUCCEEDED,
    success_hands_in_its_output: lambda before, move, now: (
        now.state is State.SUCCEEDED and bool(now.contract.output_schema)
    ),
    success_rests_on_evidence: lambda before, move, now: (
        now.state is State.SUCCEEDED and now.receipt is not None and bool(now.receipt.evidence)
    ),
    success_answers_every_input: lambda before, move, now: (
        before.state in JUDGED and _entered(move, State.PROVIDER_TURN) and not now.inputs_answered
    ),
    questions_are_answered_first: lambda before, move, now: bool(before.questions) and not now.questions,
    objections_are_obeyed: lambda before, move, now: any(
        isinstance(ruling, Fail | Suspend | Retry) for ruling in _verdicts(move).values()
    ),
    moves_are_justified: lambda before, move, now: move.transition is not None,
    evidence_is_spent_once: lambda before, move, now: move.transition is not None and len(move.transition.rests_on) > 1,
    ends_are_final: lambda before, move, now: before.state in ENDS,
    work_is_paid_for: lambda before, move, now: before.closing_event is not None and spent(before),
    cycles_count: lambda before, move, now: _entered(move, State.PROVIDER_TURN) and now.retries.total() > 0,
    no_turn_over_open_calls: lambda before, move, now: before.unanswered > 0 and now.unanswered == 0,
    every_call_is_answered_once: lambda before, move, now: (
        now.state is State.PROVIDER_TURN and any(isinstance(message, ToolMessage) for message in now.messages)
    ),
    old_epochs_stay_out: lambda before, move, now: now.epoch > 0 and now.unanswered > 0,
    early_starts_end_with_their_turn: lambda before, move, now: bool(before.early) and not now.early,
    a_change_of_provider_ends_the_epoch: lambda before, move, now: now.change is not None,
    what_was_asked_survives: lambda before, move, now: any(isinstance(record, Compaction) for record in move.records),
    no_start_without_leave: lambda before, move, now: (
        any(isinstance(record, ToolIntent) for record in move.records)
        and any(state.asked for state in now.calls.values())
    ),
    hooks_are_heeded: lambda before, move, now: any(
        isinstance(record, ToolIntent) and record.call in now.calls and bool(now.calls[record.call].hooks)
        for record in move.records
    ),
    rests_are_explained: lambda before, move, now: _entered(move, State.SUSPENDED),
    failures_are_explained: lambda before, move, now: _entered(move, State.FAILED),
    reasons_are_not_left_over: lambda before, move, now: before.rest is not None and _entered(move, *WORKING),
}
"""Every claim, and its twin: true of a step on which the claim bites. If it is true of none, the claim is vacuous."""

STANDARD: Final[tuple[Claim, ...]] = tuple(TWINS)


def broken(claims: tuple[Claim, ...], before: History, move: Move, now: History) -> Iterator[tuple[str, str]]:
    """Name and complaint of each claim that the step breaks."""
    for claim in claims:
        why = claim(before, move, now)
        if why is not None:
            yield claim.__name__, why
