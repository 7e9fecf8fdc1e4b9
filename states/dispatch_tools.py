"""dispatch_tools: every call of the committed turn becomes an intent, an answer, or a question to a person.

Nothing outside is touched here. As long as one call waits for an approval, no call of the turn gets an intent.
"""

import json
import math
from typing import Final

import orjson

from .contract import Permission
from .deferred import unloaded
from .history import CallState, History
from .names import Event
from .plan import SUBMIT_PLAN
from .ports import Outcome, Run, ToolSpec
from .records import JSON, ApprovalAsked, Dispatch, HookOutcome, Record, Status, ToolIntent, ToolResult
from .rules import Leave, Permit

CALLS_PER_TURN: Final = 64
"""Calls of one turn that are run; later ones are answered with an error (the batch limit of blade-code)."""

Decided = ToolIntent | ApprovalAsked | ToolResult


async def act(run: Run) -> Outcome:
    """Decide about each open call, in the model's order; results that ran ahead and are there are taken as well.

    A host that answers at once is asked at once.
    """
    records = await _answered(run)
    while due := _to_be_hooked(run, records):
        await _ask_hooks(run, due)
        records = await _answered(run)
    return Outcome((*run.ahead.landed(), *_news(run, records), Dispatch(run.history.turn_seq)), Event.DISPATCHED)


async def _answered(run: Run) -> list[Decided]:
    """The decisions, once the host has answered what it answers at once."""
    records = _decide_all(run)
    if any(isinstance(record, ApprovalAsked) for record in records):
        answers = await _answers(run, _news(run, records))
        if answers:
            await run.commit(*answers)
            records = _decide_all(run)
    return records


def due_for_hooks(run: Run) -> list[ToolIntent]:
    """Calls that would start now and were not yet put before the hooks."""
    return _to_be_hooked(run, _decide_all(run))


def _to_be_hooked(run: Run, records: list[Decided]) -> list[ToolIntent]:
    """Calls that would start and were not yet put before the hooks; none as long as a call waits for a person."""
    if any(isinstance(record, ApprovalAsked) for record in records):
        return []
    starting = [record for record in records if isinstance(record, ToolIntent)]
    return [intent for intent in starting if run.hooked(intent.name) and not run.history.calls[intent.call].hooks]


async def _ask_hooks(run: Run, due: list[ToolIntent]) -> None:
    """Ask them outside, call by call. What they say is durable before it counts; if it is lost, they are asked anew."""
    for intent in due:
        world = await run.outside()
        said = await world.hooks.before(run.session, intent.call, intent.name, orjson.loads(intent.arguments))
        await run.commit(*said)


def _decide_all(run: Run) -> list[Decided]:
    return [decide(state, run) for state in run.history.open_calls() if state.intent is None]


def _news(run: Run, records: list[Decided]) -> list[Decided]:
    """What is new of it. As long as a call waits, none starts."""
    waiting = any(isinstance(record, ApprovalAsked) for record in records)
    return [
        record
        for record in records
        if not (isinstance(record, ToolIntent) and waiting)
        and not (isinstance(record, ApprovalAsked) and run.history.calls[record.call].asked)
    ]


async def _answers(run: Run, news: list[Decided]) -> tuple[Record, ...]:
    """What the host says to the calls that wait, once the questions are durable."""
    if not run.answers_at_once:
        return ()
    await run.commit(*(record for record in news if isinstance(record, ApprovalAsked)))
    return await run.approvals()


def decide(state: CallState, run: Run) -> Decided:
    """What is to become of one call, by its arguments, its tool's schema and the permission in force."""
    call, history, tools = state.call, run.history, run.tools
    declared = tools.spec(call.name) or ToolSpec(call.name, "", {})
    if too_early := _too_early(state, declared, history):
        return _answer(state, history, Status.ERROR, too_early)
    try:
        arguments = parse(state.sent)
        spelled = canonical(arguments)
    except (ValueError, TypeError) as error:  # the latter: text or depth that the journal cannot hold
        said = call.arguments[:200]
        return _answer(
            state, history, Status.ERROR, f"Error: the arguments are no JSON ({error}): {said!r}. Not started."
        )
    complaint = tools.complaint(call.name, arguments)
    if complaint is not None:
        return _answer(state, history, Status.ERROR, f"Error: {complaint} Not started.")
    if state.approval is not None and not state.approval.granted:
        why = f" They said: {state.approval.reason}" if state.approval.reason else ""
        return _answer(state, history, Status.DENIED, f"Denied: a person refused this call; it was not started.{why}")
    if call.name == SUBMIT_PLAN and history.permission is not Permission.PLAN:
        return _answer(state, history, Status.ERROR, "Error: no plan is asked for; do the work. Not started.")
    denied = [said for said in state.hooks if said.outcome is HookOutcome.DENIED]
    if denied:
        return _answer(state, history, Status.DENIED, f"Denied by a hook: {denied[0].said} Not started.")
    reads = declared.changes_nothing(arguments)
    permit = run.permit(call.name, arguments, reads=reads, delegates=declared.delegates)
    if permit.leave is Leave.DENY:
        return _answer(state, history, Status.DENIED, f"Denied: {permit.why}. Not started.")
    asking = [said for said in state.hooks if said.outcome is HookOutcome.ASKED]
    if asking and permit.leave is Leave.ALLOW:
        permit = Permit(Leave.ASK, f"a hook asks: {asking[0].said}")
    if permit.leave is Leave.ASK and state.approval is None:
        return ApprovalAsked(call.id, call.name, spelled, permit.why)
    return ToolIntent(
        call.id,
        call.name,
        spelled,
        state.order,
        history.epoch,
        reads,
        declared.concurrency_safe,
        permit.why if permit.leave is Leave.ALLOW else "a person approved it",
    )


def _too_early(state: CallState, declared: ToolSpec, history: History) -> str:
    """Why the call is not even read; empty if it is."""
    if state.order >= CALLS_PER_TURN:
        return f"Error: only {CALLS_PER_TURN} calls per turn are run; not started."
    return unloaded(declared.name) if declared.deferred and declared.name not in history.loaded else ""


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
