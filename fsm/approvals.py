"""Approvals that the host gives while the run goes on: `Loop(on_approval=...)`."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping

import attrs
import orjson

from gates.permission import rule_for
from states.history import CallState, History
from states.records import JSON, Approval, PermissionChange, Record
from states.rules import Rules


@attrs.frozen
class ApprovalRequest:
    """A call that waits. `arguments` are exactly those that it will run with; `why` is the rule or permission."""

    session: str
    call: str
    name: str
    arguments: Mapping[str, JSON]
    why: str = ""


@attrs.frozen
class ApprovalAnswer:
    """`reason` is read by the model. `remember`: calls like this one run unasked for the rest of the session."""

    granted: bool
    reason: str = ""
    remember: bool = False


Answered = ApprovalAnswer | bool | None
Approver = Callable[[ApprovalRequest], Answered | Awaitable[Answered]]
"""None leaves the call waiting: the run then rests until somebody resumes it."""


def waiting(history: History) -> list[CallState]:
    """Calls that wait for a person, in the model's order."""
    return [state for state in history.open_calls() if state.asked and state.approval is None and state.intent is None]


def remembered(history: History, state: CallState) -> PermissionChange:
    """The record that lets calls like this one run from now on."""
    root = history.started.workspace if history.started else ""
    rule = rule_for(state.call.name, orjson.loads(state.arguments), root)
    return PermissionChange(history.permission, f"remembered with {state.call.id}", Rules(allow=(rule,)))


async def ask(approver: Approver, history: History) -> tuple[Record, ...]:
    """Ask for each call that waits, one after the other. Stops at the first that is left open.

    A callback that raises has answered nothing: the run rests, and the log says what happened.
    """
    records: list[Record] = []
    for state in waiting(history):
        arguments = orjson.loads(state.arguments)
        try:
            said = approver(ApprovalRequest(history.session, state.call.id, state.call.name, arguments, state.why))
            answer = await said if inspect.isawaitable(said) else said
        except Exception:
            logging.getLogger(__name__).exception("on_approval raised; the call waits")
            break
        if answer is None:
            break
        given = ApprovalAnswer(answer) if isinstance(answer, bool) else answer
        records.append(Approval(state.call.id, given.granted, given.reason))
        if given.granted and given.remember:
            records.append(remembered(history, state))
    return tuple(records)
