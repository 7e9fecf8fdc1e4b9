"""dispatch_tools: every call of the committed turn becomes an intent, an answer, or a question to a person.

Nothing outside is touched here. As long as one call waits for an approval, no call of the turn gets an intent.
"""

import json
import math
from typing import Final

import orjson

from .contract import Permission
from .history import CallState, History
from .names import Event
from .ports import Outcome, Run, Toolbox, ToolSpec
from .records import JSON, ApprovalAsked, Dispatch, Status, ToolIntent, ToolResult

CALLS_PER_TURN: Final = 64
"""Calls of one turn that are run; later ones are answered with an error (the batch limit of blade-code)."""


async def act(run: Run) -> Outcome:
    """Decide about each open call, in the model's order; results that ran ahead and are there are taken as well."""
    history = run.history
    records = [decide(state, history, run.tools) for state in history.open_calls() if state.intent is None]
    waiting = any(isinstance(record, ApprovalAsked) for record in records)
    commit = [
        record
        for record in records
        if not (isinstance(record, ToolIntent) and waiting)
        and not (isinstance(record, ApprovalAsked) and history.calls[record.call].asked)
    ]
    return Outcome((*run.ahead.landed(), *commit, Dispatch(history.turn_seq)), Event.DISPATCHED)


def decide(state: CallState, history: History, tools: Toolbox) -> ToolIntent | ApprovalAsked | ToolResult:
    """What is to become of one call, by its arguments, its tool's schema and the permission in force."""
    call = state.call
    if state.order >= CALLS_PER_TURN:
        return _answer(
            state, history, Status.ERROR, f"Error: only {CALLS_PER_TURN} calls per turn are run; not started."
        )
    try:
        arguments = parse(call.arguments)
        spelled = canonical(arguments)
    except (ValueError, TypeError) as error:  # the latter: text or depth that the journal cannot hold
        said = call.arguments[:200]
        return _answer(
            state, history, Status.ERROR, f"Error: the arguments are no JSON ({error}): {said!r}. Not started."
        )
    complaint = tools.complaint(call.name, arguments)
    if complaint is not None:
        return _answer(state, history, Status.ERROR, f"Error: {complaint} Not started.")
    spec = tools.spec(call.name)
    if state.approval is not None and not state.approval.granted:
        why = f" They said: {state.approval.reason}" if state.approval.reason else ""
        return _answer(state, history, Status.DENIED, f"Denied: a person refused this call; it was not started.{why}")
    if spec is None or not (spec.read_only or spec.delegates):
        if history.permission is Permission.PLAN:
            return _answer(state, history, Status.DENIED, "Denied: only read-only tools may run while planning.")
        if history.permission is Permission.ASK and state.approval is None:
            return ApprovalAsked(call.id, call.name, spelled)
    declared = spec or ToolSpec(call.name, "", {})
    return ToolIntent(
        call.id, call.name, spelled, state.order, history.epoch, declared.read_only, declared.concurrency_safe
    )


def _answer(state: CallState, history: History, status: Status, text: str) -> ToolResult:
    return ToolResult(state.call.id, status, text, epoch=history.epoch)


def parse(arguments: str) -> JSON:
    """The arguments as sent; nothing at all means no arguments. Raises ValueError: nothing is repaired or changed."""
    if not arguments.strip():
        return {}
    try:
        value: JSON = json.loads(
            arguments,
            object_pairs_hook=_members,
            parse_int=_whole_number,
            parse_float=_number,
            parse_constant=_no_number,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _members(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return members


def _whole_number(digits: str) -> int:
    number = int(digits) if len(digits) <= 20 else 2**64  # longer ones cost quadratic time to read
    if not -(2**63) <= number < 2**63:
        raise ValueError("a whole number beyond 64 bits; send it as a string")
    return number


def _number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number beyond all bounds")
    return number


def _no_number(name: str) -> JSON:
    raise ValueError(f"{name} is no JSON")


def canonical(arguments: JSON) -> str:
    """One spelling for equal arguments: sorted keys, no spaces."""
    return orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode()
