"""The fold: how each record changes what is known of a session.

`apply` costs O(1) per record, does no I/O and reads no clock. Records that contradict what came before are
refused by name: a journal that this fold accepts has spent no evidence twice and answered no call twice.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from .actions import Actions, batch_digest
from .errors import HistoryError
from .history import CallState, CommandRun, History
from .messages import (
    AssistantMessage,
    Call,
    Finish,
    Foreign,
    ToolMessage,
    Usage,
    UserMessage,
    calls_of,
    text_of,
)
from .names import ENDS, INITIAL, RESTING, State
from .records import (
    CLOSING,
    Approval,
    ApprovalAsked,
    AssistantTurn,
    Baseline,
    BudgetChange,
    Cancellation,
    Candidate,
    Dispatch,
    Entry,
    Evidence,
    Failed,
    Finalized,
    Finding,
    PermissionChange,
    Resumed,
    RunStarted,
    Settlement,
    Status,
    StopAnswer,
    Suspended,
    ToolIntent,
    ToolResult,
    Transition,
    Trouble,
    TurnDiscarded,
    TurnFailure,
    Understood,
    UserInput,
    Verdict,
    Verification,
)
from .verdicts import Pass, Retry, Suspend

SAID: Final = 400
"""Characters kept of what a command said at its end: enough for any test runner's summary."""
GO_ON: Final = "The run was interrupted and is resumed. Go on from where it stopped."


def fold(session: str, entries: list[Entry]) -> History:
    """The history that `entries` leave, from the first on."""
    history = History(session)
    for entry in entries:
        apply(history, entry)
    return history


def apply(history: History, entry: Entry) -> None:
    """Add one entry. Raises HistoryError, and history is then worthless."""
    if entry.seq != history.seq + 1:
        raise HistoryError(f"record {entry.seq} of {history.session}: {history.seq + 1} is due")
    if history.started is None and not isinstance(entry.record, RunStarted):
        raise HistoryError(f"record {entry.seq} of {history.session}: it comes before any run")
    if entry.fence == history.fence and history.state not in RESTING:
        history.seconds += max(0.0, entry.at - history.at)
    history.seq, history.at, history.fence = entry.seq, entry.at, entry.fence
    _APPLY[type(entry.record)](history, entry.seq, entry.record)
    event = CLOSING.get(type(entry.record))
    if event is not None:
        history.closing, history.closing_event = entry.seq, event
        history.unspent.add(entry.seq)


def _need(holds: bool, seq: int, what: str) -> None:
    if not holds:
        raise HistoryError(f"record {seq}: {what}")


def _run_started(history: History, seq: int, record: RunStarted) -> None:
    _need(history.started is None or history.state in ENDS, seq, "a run starts before the last one ended")
    _need(history.unanswered == 0, seq, "a run starts with open calls")
    _need(record.run == history.run + 1, seq, f"run {history.run + 1} is due, not {record.run}")
    history.started = record
    history.state = INITIAL
    history.contract, history.budget, history.permission = record.contract, record.budget, record.permission
    history.turns = history.tool_calls = 0
    history.usage, history.seconds = Usage(), 0.0
    history.retries = Counter()
    history.hints, history.suspends, history.baselines = {}, {}, {}
    history.understood, history.failing = (), {}
    history.rest = history.failure = history.require_tool = None
    history.closing, history.closing_event = 0, None
    history.unspent.clear()
    history.commands.clear()
    _forget_turn(history)


def _forget_turn(history: History) -> None:
    history.turn, history.turn_seq, history.trouble, history.carried = None, 0, None, ""
    history.calls, history.unanswered = {}, 0
    history.same_text, history.last_text = 0, ""
    _forget_candidate(history)


def _forget_candidate(history: History) -> None:
    history.candidate = 0
    history.verification = history.stop_answer = history.receipt = None
    history.verdicts = {}
    history.evidence = {}
    history.findings = {}


def _say(history: History, text: str) -> None:
    """Words for the model; while calls are open they wait, so that no answer is parted from its call."""
    (history.held if history.unanswered else history.messages).append(UserMessage(text))


def _user_input(history: History, seq: int, record: UserInput) -> None:
    _say(history, record.text)
    history.last_input, history.last_words = seq, record.text
    history.calls_since_input = history.effects_since_input = 0
    history.actions = Actions()
    if record.inbox is not None:
        _need(record.inbox > history.noted, seq, f"note {record.inbox} was taken before")
        history.noted = record.inbox


def _understood(history: History, seq: int, record: Understood) -> None:
    _need(history.last_input != 0, seq, "something was understood before there was an input")
    kept = (kind for kind in history.understood if kind not in record.waived)
    history.understood = tuple(dict.fromkeys((*kept, *(() if record.not_owed else record.kinds))))


def _baseline(history: History, seq: int, record: Baseline) -> None:
    _need(record.gate not in history.baselines, seq, f"a second baseline of {record.gate}")
    _need(history.turns == 0, seq, "a baseline after the run has begun to work")
    history.baselines[record.gate] = record


def _assistant_turn(history: History, seq: int, record: AssistantTurn) -> None:
    _need(history.state is State.PROVIDER_TURN, seq, f"a turn in {history.state}")
    _need(history.closing == 0, seq, "a second end of one activity")
    _need(history.unanswered == 0, seq, "a turn while calls are open")
    _need(record.saw >= history.last_input, seq, "a turn whose request lacked a committed input")
    _need(record.epoch == history.epoch, seq, f"a turn of dead epoch {record.epoch}")
    history.cuts = 0
    goes_on = history.turn is not None and history.turn.finish in (Finish.LENGTH, Finish.PAUSED) and not history.calls
    history.carried = history.text if goes_on else ""
    history.turn, history.turn_seq, history.trouble = record, seq, None
    history.turns += 1
    history.turn_count += 1
    history.usage = history.usage + record.usage
    history.require_tool = None
    cut = record.finish is Finish.LENGTH
    blocks = tuple(block for block in record.blocks if not (cut and isinstance(block, Call)))
    calls = calls_of(blocks)
    _need(len({call.id for call in calls}) == len(calls), seq, "two calls with one id")
    if calls or text_of(blocks).strip() or any(isinstance(block, Foreign) for block in blocks):
        history.messages.append(AssistantMessage(blocks))
    history.calls = {call.id: CallState(call, order) for order, call in enumerate(calls)}
    history.unanswered = len(calls)
    history.tool_calls += len(calls)
    if not calls:
        history.actions = Actions()
    _forget_candidate(history)


def _turn_failure(history: History, seq: int, record: TurnFailure) -> None:
    _need(history.state is State.PROVIDER_TURN, seq, f"a failed turn in {history.state}")
    _need(history.closing == 0, seq, "a second end of one activity")
    history.trouble = record
    history.cuts = history.cuts + 1 if record.trouble is Trouble.CUT else 0


def _turn_discarded(history: History, seq: int, record: TurnDiscarded) -> None:
    _need(history.state is State.PROVIDER_TURN, seq, f"an epoch ends in {history.state}")
    _need(history.unanswered == 0, seq, "an epoch ends with open calls")
    _need(record.epoch == history.epoch + 1, seq, f"epoch {history.epoch + 1} is due, not {record.epoch}")
    history.epoch = record.epoch


def _call(history: History, seq: int, call: str) -> CallState:
    state = history.calls.get(call)
    if state is None or state.result is not None:
        raise HistoryError(f"record {seq}: {call!r} is no open call of the current turn")
    return state


def _tool_intent(history: History, seq: int, record: ToolIntent) -> None:
    state = _call(history, seq, record.call)
    _need(history.state is State.DISPATCH_TOOLS, seq, f"an intent in {history.state}")
    _need(state.intent is None, seq, f"a second intent for {record.call!r}")
    _need(state.approval is None or state.approval.granted, seq, f"an intent for {record.call!r}, which was refused")
    _need(record.epoch == history.epoch, seq, f"an intent of dead epoch {record.epoch}")
    _need(record.order == state.order, seq, "intents out of the model's order")
    _need(all(other.intent is not None for other in _before(history, state)), seq, "intents out of the model's order")
    state.intent, state.fence, state.arguments = seq, history.fence, record.arguments
    state.read_only, state.shared = record.read_only, record.shared


def _before(history: History, state: CallState) -> list[CallState]:
    return [other for other in history.open_calls() if other.order < state.order]


def _tool_result(history: History, seq: int, record: ToolResult) -> None:
    state = _call(history, seq, record.call)
    _need(record.epoch == history.epoch, seq, f"a result of dead epoch {record.epoch}")
    _need(history.state not in RESTING, seq, f"a result in {history.state}")
    ran = record.status in (Status.OK, Status.UNKNOWN)
    _need(not ran or state.intent is not None, seq, f"a result of {record.call!r}, which was never started")
    state.result = record
    history.unanswered -= 1
    history.calls_since_input += 1
    if record.status is Status.OK:
        history.failing.pop(state.call.name, None)
        history.effects_since_input += not state.read_only
    elif record.status is not Status.CANCELLED:
        history.failing[state.call.name] = history.failing.get(state.call.name, 0) + 1
    command, exit_status = record.metadata.get("command"), record.metadata.get("exit_status")
    if isinstance(command, str) and isinstance(exit_status, int):
        before, after = record.metadata.get("revision_before"), record.metadata.get("revision_after")
        revision = before if isinstance(before, str) and before == after else ""
        history.commands.append(CommandRun(seq, command, exit_status, record.output[-SAID:], revision))
    if history.unanswered == 0:
        history.messages += [
            _answer(done.call, done.result) for done in history.calls.values() if done.result is not None
        ]
        history.messages += history.held
        history.held.clear()


def _answer(call: Call, result: ToolResult) -> ToolMessage:
    return ToolMessage(call.id, call.name, result.output, result.status is not Status.OK, result.images)


def _dispatch(history: History, seq: int, record: Dispatch) -> None:
    _need(history.state is State.DISPATCH_TOOLS, seq, f"a dispatch in {history.state}")
    _need(record.turn == history.turn_seq and bool(history.calls), seq, "a dispatch of no current calls")


def _settlement(history: History, seq: int, record: Settlement) -> None:
    _need(history.state is State.AWAIT_RESULTS, seq, f"a settlement in {history.state}")
    _need(record.turn == history.turn_seq, seq, "a settlement of another turn")
    _need(history.unanswered == 0, seq, "settled with open calls")
    done = [(state, state.result) for state in history.calls.values() if state.result is not None]
    batch = [(state.call.name, state.arguments or state.call.arguments, result) for state, result in done]
    history.actions = history.actions.after(batch_digest(batch))


def _approval_asked(history: History, seq: int, record: ApprovalAsked) -> None:
    state = _call(history, seq, record.call)
    state.asked, state.arguments = True, record.arguments


def _approval(history: History, seq: int, record: Approval) -> None:
    state = _call(history, seq, record.call)
    _need(state.asked and state.approval is None, seq, f"{record.call!r} waits for no approval")
    state.approval = record


def _permission_change(history: History, seq: int, record: PermissionChange) -> None:
    history.permission = record.permission


def _budget_change(history: History, seq: int, record: BudgetChange) -> None:
    history.budget = record.budget


def _candidate(history: History, seq: int, record: Candidate) -> None:
    _need(history.state is State.CANDIDATE_FINAL, seq, f"a candidate in {history.state}")
    _need(record.turn == history.turn_seq != 0, seq, "a candidate of another turn")
    _need(history.candidate == 0, seq, "a second candidate of one turn")
    history.candidate = seq
    text = history.text.strip()
    history.same_text = history.same_text + 1 if text == history.last_text and history.same_text else 1
    history.last_text = text


def _evidence(history: History, seq: int, record: Evidence) -> None:
    history.evidence[seq] = record


def _finding(history: History, seq: int, record: Finding) -> None:
    history.findings[record.gate] = (seq, record)


def _verification(history: History, seq: int, record: Verification) -> None:
    _need(history.state is State.VERIFY, seq, f"a verification in {history.state}")
    _need(record.candidate == history.candidate != 0, seq, "a verification of another candidate")
    history.verification = record


def _stop_answer(history: History, seq: int, record: StopAnswer) -> None:
    _need(history.state is State.STOP_HOOK, seq, f"an answer in {history.state}")
    _need(record.candidate == history.candidate != 0, seq, "an answer about another candidate")
    history.stop_answer = record


def _finalized(history: History, seq: int, record: Finalized) -> None:
    _need(history.state is State.FINALIZE, seq, f"a receipt in {history.state}")
    _need(record.candidate == history.candidate != 0, seq, "a receipt for another candidate")
    history.receipt = record


def _verdict(history: History, seq: int, record: Verdict) -> None:
    history.unspent.add(seq)
    history.verdicts[record.gate] = (seq, record.ruling)
    if isinstance(record.ruling, Retry):
        history.retries[record.gate] += 1
        history.require_tool = record.ruling.require_tool
        paused = history.turn is not None and history.turn.finish is Finish.PAUSED
        own_words = bool(history.messages) and isinstance(history.messages[-1], AssistantMessage)
        if record.ruling.message or (own_words and not paused and not history.unanswered):
            _say(history, record.ruling.message or record.ruling.reason)
    elif isinstance(record.ruling, Pass) and record.ruling.hint:
        history.hints[record.gate] = history.turns
        _say(history, record.ruling.hint)
    elif isinstance(record.ruling, Suspend):
        history.suspends[record.gate] = seq


def _transition(history: History, seq: int, record: Transition) -> None:
    _need(record.source is history.state, seq, f"a move from {record.source} while in {history.state}")
    _need(record.event is history.closing_event, seq, f"a move on {record.event}, which did not happen")
    _need(history.closing in record.rests_on, seq, "a move that does not rest on what happened")
    spent = sorted(set(record.rests_on) - history.unspent)
    _need(not spent, seq, f"evidence {spent} is spent or no evidence")
    history.state = record.target
    history.unspent.clear()
    history.closing, history.closing_event = 0, None
    if record.target is not State.SUSPENDED:
        history.rest = None


def _cancellation(history: History, seq: int, record: Cancellation) -> None:
    _need(history.state not in RESTING, seq, f"a cancellation in {history.state}")
    history.noted = max(history.noted, record.inbox or 0)
    history.closing = 0  # whatever the activity had reported, the cancellation is what happened last


def _failed(history: History, seq: int, record: Failed) -> None:
    history.failure = record


def _suspended(history: History, seq: int, record: Suspended) -> None:
    history.rest = record


def _resumed(history: History, seq: int, record: Resumed) -> None:
    _need(history.state is State.SUSPENDED, seq, f"resumed in {history.state}")
    if history.messages and isinstance(history.messages[-1], AssistantMessage) and not history.unanswered:
        _say(history, GO_ON)  # a request that ends in the model's own words asks for nothing


_APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    RunStarted: _run_started,
    UserInput: _user_input,
    Understood: _understood,
    Baseline: _baseline,
    AssistantTurn: _assistant_turn,
    TurnFailure: _turn_failure,
    TurnDiscarded: _turn_discarded,
    ToolIntent: _tool_intent,
    Dispatch: _dispatch,
    ToolResult: _tool_result,
    Settlement: _settlement,
    ApprovalAsked: _approval_asked,
    Approval: _approval,
    PermissionChange: _permission_change,
    BudgetChange: _budget_change,
    Candidate: _candidate,
    Evidence: _evidence,
    Finding: _finding,
    Verification: _verification,
    StopAnswer: _stop_answer,
    Finalized: _finalized,
    Verdict: _verdict,
    Transition: _transition,
    Cancellation: _cancellation,
    Failed: _failed,
    Suspended: _suspended,
    Resumed: _resumed,
}
