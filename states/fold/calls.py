"""How far each call has come."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from states.actions import batch_digest
from states.contract import Permission
from states.deferred import TOOL_SEARCH, loaded_by
from states.errors import HistoryError
from states.history import CallState, CommandRun, History, Question
from states.messages import Call, ToolMessage
from states.names import RESTING, State
from states.output import OUTPUT_ACCEPTED, STRUCTURED_OUTPUT
from states.plan import SUBMIT_PLAN
from states.records import (
    JSON,
    Approval,
    ApprovalAsked,
    Dispatch,
    HookOutcome,
    PlanReview,
    Settlement,
    Status,
    ToolIntent,
    ToolResult,
)
from states.rules import DELEGATES
from states.verdicts import WaitsFor

from .basics import need

SAID: Final = 400
"""Characters kept of what a command said at its end: enough for any test runner's summary."""


def open_call(history: History, seq: int, call: str) -> CallState:
    state = history.calls.get(call)
    if state is None or state.result is not None:
        raise HistoryError(f"record {seq}: {call!r} is no open call of the current turn")
    return state


def _tool_intent(history: History, seq: int, record: ToolIntent) -> None:
    state = open_call(history, seq, record.call)
    need(history.state is State.DISPATCH_TOOLS, seq, f"an intent in {history.state}")
    need(state.intent is None, seq, f"a second intent for {record.call!r}")
    need(state.approval is None or state.approval.granted, seq, f"an intent for {record.call!r}, which was refused")
    need(_may_start(history, state, record), seq, f"an intent for {record.call!r}, which may not start unasked")
    denied = any(said.outcome is HookOutcome.DENIED for said in state.hooks)
    need(not denied, seq, f"an intent for {record.call!r}, which a hook denied")
    shown = state.arguments if state.approval is not None else None
    for what, arguments in (("a hook made of it", _changed(state)), ("a person was shown", shown)):
        need(arguments in (None, record.arguments), seq, f"an intent for {record.call!r} with other input than {what}")
    need(record.epoch == history.epoch, seq, f"an intent of dead epoch {record.epoch}")
    need(record.order == state.order, seq, "intents out of the model's order")
    need(all(other.intent is not None for other in _before(history, state)), seq, "intents out of the model's order")
    state.intent, state.fence, state.arguments = seq, history.fence, record.arguments
    state.read_only, state.shared = record.read_only, record.shared


def _changed(state: CallState) -> str | None:
    """What hooks made of a call's arguments, if they changed them."""
    return next((said.arguments for said in reversed(state.hooks) if said.arguments), None)


def _may_start(history: History, state: CallState, record: ToolIntent) -> bool:
    """What the permission in force says of it. Whether a rule really means the call, an audit can tell."""
    granted = state.approval is not None and state.approval.granted
    if not granted and any(said.outcome is HookOutcome.ASKED for said in state.hooks):
        return False
    if record.read_only or record.leave == DELEGATES:
        return True
    if granted:
        return history.permission is not Permission.PLAN
    if history.permission is Permission.ASK:
        return any(record.leave == f"allow {rule}" for rule in history.rules.allow)
    return history.permission is Permission.FULL


def _before(history: History, state: CallState) -> list[CallState]:
    return [other for other in history.open_calls() if other.order < state.order]


def _tool_result(history: History, seq: int, record: ToolResult) -> None:
    state = open_call(history, seq, record.call)
    need(record.epoch == history.epoch, seq, f"a result of dead epoch {record.epoch}")
    need(history.state not in RESTING, seq, f"a result in {history.state}")
    ran = record.status in (Status.OK, Status.UNKNOWN)
    need(not ran or state.intent is not None, seq, f"a result of {record.call!r}, which was never started")
    state.result = record
    history.unanswered -= 1
    history.calls_since_input += 1
    if record.status is Status.OK:
        history.failing.pop(state.call.name, None)
        history.effects_since_input += not state.read_only
    elif record.status is not Status.CANCELLED:
        history.failing[state.call.name] = history.failing.get(state.call.name, 0) + 1
    if state.call.name == STRUCTURED_OUTPUT and record.status is Status.ERROR and not history.output_of_turn:
        history.output = None  # the model has said that what stood is not its answer any more
        history.retries[OUTPUT_ACCEPTED] += bool(history.contract.output_schema)
    if state.call.name == TOOL_SEARCH and record.status is Status.OK:
        history.loaded |= dict.fromkeys(loaded_by(record.metadata))
    if record.asks and record.status is Status.OK:
        plan = state.call.name == SUBMIT_PLAN
        history.questions.append(Question(seq, WaitsFor.PLAN_REVIEW if plan else WaitsFor.ANSWER, record.asks))
    _note_changes(history, state, record)
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


def _note_changes(history: History, state: CallState, record: ToolResult) -> None:
    """What a call changed, as its tool says; a call that broke off may have changed what it was asked to."""
    if state.intent is None:
        return
    said: Mapping[str, JSON] = record.metadata
    if record.status in (Status.UNKNOWN, Status.CANCELLED) and not state.read_only:
        asked = orjson.loads(state.arguments)
        path = asked.get("path")
        said = {"command": asked.get("command"), "changed": [path] if path else []} | dict(said)
    changed, command = said.get("changed"), said.get("command")
    if isinstance(changed, list) and record.status is not Status.ERROR:
        paths = [each.get("path") if isinstance(each, dict) else each for each in changed]
        history.changed |= dict.fromkeys(path for path in paths if isinstance(path, str))
    if isinstance(command, str):
        history.shell[command] = None


def _answer(call: Call, result: ToolResult) -> ToolMessage:
    return ToolMessage(call.id, call.name, result.output, result.status is not Status.OK, result.images)


def _dispatch(history: History, seq: int, record: Dispatch) -> None:
    need(history.state is State.DISPATCH_TOOLS, seq, f"a dispatch in {history.state}")
    need(record.turn == history.turn_seq and bool(history.calls), seq, "a dispatch of no current calls")


def _settlement(history: History, seq: int, record: Settlement) -> None:
    need(history.state is State.AWAIT_RESULTS, seq, f"a settlement in {history.state}")
    need(record.turn == history.turn_seq, seq, "a settlement of another turn")
    need(history.unanswered == 0, seq, "settled with open calls")
    done = [(state, state.result) for state in history.calls.values() if state.result is not None]
    batch = [(state.call.name, state.arguments or state.call.arguments, result) for state, result in done]
    history.actions = history.actions.after(batch_digest(batch))


def _approval_asked(history: History, seq: int, record: ApprovalAsked) -> None:
    state = open_call(history, seq, record.call)
    state.asked, state.arguments, state.why = True, record.arguments, record.why


def _approval(history: History, seq: int, record: Approval) -> None:
    state = open_call(history, seq, record.call)
    need(state.asked and state.approval is None, seq, f"{record.call!r} waits for no approval")
    state.approval = record


def _plan_review(history: History, seq: int, record: PlanReview) -> None:
    plan = history.plan
    need(plan is not None and plan.result == record.plan, seq, f"{record.plan} is no plan that waits for a review")
    may = history.permission is not Permission.PLAN
    need(may or not record.approved, seq, "a plan was approved, but nothing may carry it out yet")
    history.questions = [asked for asked in history.questions if asked is not plan]


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    ToolIntent: _tool_intent,
    ToolResult: _tool_result,
    Dispatch: _dispatch,
    Settlement: _settlement,
    ApprovalAsked: _approval_asked,
    Approval: _approval,
    PlanReview: _plan_review,
}
