"""await_results: started tools run, and each result is committed when it lands.

Calls that declare themselves concurrency-safe run together; any other call is a barrier, in the model's order.
An intent of an earlier claim may or may not have had its effect: the tool's own declaration decides what to do.
"""

import asyncio
from collections.abc import Callable
from itertools import groupby
from typing import Final

import attrs
import orjson

from .history import CallState, Early, History
from .names import Event
from .output import STRUCTURED_OUTPUT, schema_digest
from .ports import Outcome, Outside, Run, ToolOutput, ToolRun, ToolSpec, Workspace
from .records import JSON, Metadata, OutputAccepted, Record, Settlement, Status, ToolResult
from .rules import Leave
from .text import safe_json, safe_text

UNKNOWN: Final = (
    "Unknown: this call may have been started before the process was lost. It may have happened, in part or in full. "
    "Look at the state of things before you repeat it."
)
STOPPED: Final = "Cancelled: this call was stopped after it had started; part of it may have happened."
ELSEWHERE: Final = (
    "Unknown: this call was started in the session that this one was forked from. It may have happened there, in part "
    "or in full; it is not run again here. Look at the state of things before you repeat it."
)
_OURS: Final = frozenset({"revision_before", "revision_after", "recovered", "waited"})
"""Metadata that only we write: a tool cannot vouch for the workspace."""
_WAITED: Final = 0.001
"""Seconds from which waiting for a slot is worth a word: below is what finding it free takes."""
NOT_AGAIN: Final = "Cancelled: this call is not run again, because the permission has changed since."
NOT_STARTED: Final = "Cancelled: this call was never started."
ONE_OUTPUT: Final = "Error: an output of this turn was accepted already, and it stands. One call hands it in."


@attrs.frozen
class _Ran:
    """What a call came to. `duration`: seconds that it ran; `waited`: those before, for a slot."""

    output: ToolOutput
    duration: float
    waited: float = 0.0

    @property
    def metadata(self) -> dict[str, JSON]:
        """The tool's own, and `waited` where limits on calls at once held it up."""
        given = self.output.metadata or {}
        own: dict[str, JSON] = {key: safe_json(value) for key, value in given.items() if key not in _OURS}
        if self.waited >= _WAITED:
            own["waited"] = round(self.waited, 6)
        return own


async def act(run: Run) -> Outcome:
    """Run, recover or wait for every open call of the turn."""
    history = run.history
    open_calls = history.open_calls()
    begun: set[str] = set()
    last: tuple[Record, ...] = ()
    if open_calls:
        world = await run.outside()
        try:
            for place, (_, group) in enumerate(groupby(open_calls, key=_lane)):
                last = await _together(list(group), run, world, begun, lost=place == 0)
        except asyncio.CancelledError:
            left = [
                close(state, history.epoch, run.fence, begun=state.call.id in begun) for state in history.open_calls()
            ]
            await run.commit(*left)
            raise
    return Outcome((*last, Settlement(history.turn_seq)), Event.SETTLED)


def _lane(state: CallState) -> str:
    """Equal for neighbours that may run side by side."""
    return "shared" if state.shared else state.call.id


async def _together(
    group: list[CallState], run: Run, world: Outside, begun: set[str], *, lost: bool
) -> tuple[Record, ...]:
    """Run a group; the turn's very last results are returned, so that they share a commit with what follows.

    lost: an earlier claim may have started them. Only the first group can be: the next one starts when all before it
    is committed.
    """
    tasks = [asyncio.create_task(_result(state, run, world, begun, lost=lost)) for state in group]
    try:
        waiting = set(tasks)
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            landed = [task.result() for task in tasks if task in done]
            records = tuple(record for result in landed for record in with_output(run.history, result))
            if run.history.unanswered == len(landed):
                return records
            await run.commit(*records)
    except BaseException:
        await _stop(tasks, run)
        raise
    return ()


async def _stop(tasks: "list[asyncio.Task[ToolResult]]", run: Run) -> None:
    """End every task, wait for it, and commit whatever a tool still had to say."""
    for task in tasks:
        task.cancel()
    for said in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(said, ToolResult) and run.history.calls[said.call].result is None:
            await run.commit(*with_output(run.history, said))


def _hands_in(state: CallState, history: History) -> bool:
    return state.call.name == STRUCTURED_OUTPUT and bool(history.contract.output_schema)


def with_output(history: History, result: ToolResult) -> tuple[Record, ...]:
    """The result, and the run's output if it was handed in by it: both or neither is committed."""
    state = history.calls[result.call]
    if result.status is not Status.OK or not _hands_in(state, history):
        return (result,)
    before, after = result.metadata.get("revision_before"), result.metadata.get("revision_after")
    seen = after if isinstance(after, str) and before == after else ""
    return result, OutputAccepted(result.call, schema_digest(history.contract.output_schema), state.arguments, seen)


async def _result(state: CallState, run: Run, world: Outside, begun: set[str], *, lost: bool) -> ToolResult:
    ahead = run.ahead.take(state.call.id)
    if ahead is not None:
        begun.add(state.call.id)
        return await ahead
    spec = world.tools.spec(state.call.name)
    tool_run = _tool_run(state.call.id, state.call.name, state.arguments, state.intent, run)
    hands_in = _hands_in(state, run.history)
    if hands_in and run.history.output_of_turn:
        return ToolResult(state.call.id, Status.ERROR, ONE_OUTPUT, epoch=run.history.epoch)
    proves = hands_in or (run.history.owes_evidence and not (spec and spec.read_only))
    watched = proves and world.workspace is not None
    before = await _revision(world.workspace) if watched and world.workspace else None
    since = world.clock.monotonic()
    recovered = None
    if state.fence < run.fence:
        recovered = await (_recover(state, spec, tool_run, run, world) if lost else _allowed(state, spec, run))
    if recovered is not None:
        ran = _Ran(recovered, world.clock.monotonic() - since)
    else:
        ran = await _start(tool_run, world, lambda: begun.add(state.call.id))
    metadata = ran.metadata
    if recovered is not None:
        metadata |= {"recovered": True}  # which workspace it saw, nobody knows
    elif watched and world.workspace:
        metadata |= {"revision_before": before, "revision_after": await _revision(world.workspace)}
    return _answer(state.call.id, ran, metadata, run.history.epoch)


async def run_ahead(early: Early, run: Run, world: Outside) -> ToolResult:
    """Run a call ahead of its turn; its intent is durable. The result belongs to the epoch in which it started."""
    known = early.record
    ran = await _start(_tool_run(known.call, known.name, known.arguments, early.intent, run), world)
    return _answer(known.call, ran, ran.metadata, known.epoch)


def _tool_run(call: str, name: str, arguments: str, intent: int | None, run: Run) -> ToolRun:
    given: dict[str, JSON] = orjson.loads(arguments)
    return ToolRun(name, given, f"{run.session}:{intent}", lambda text: run.show_progress(call, text), run)


def _answer(call: str, ran: _Ran, metadata: Metadata, epoch: int) -> ToolResult:
    output = ran.output
    return ToolResult(
        call,
        output.status,
        safe_text(output.text),
        metadata,
        round(ran.duration, 6),
        epoch,
        output.images,
        safe_text(output.asks),
    )


async def _revision(workspace: Workspace) -> str | None:
    """None if it cannot be told: what ran then proves nothing, but its result is not lost."""
    try:
        return await workspace.revision()
    except Exception:  # noqa: BLE001  the effect has happened, whatever the workspace says
        return None


async def _start(tool_run: ToolRun, world: Outside, begins: Callable[[], None] = lambda: None) -> _Ran:
    """Wait for a slot, then run it; the two are timed apart."""
    asked = world.clock.monotonic()
    async with world.slot(tool_run.name):
        since = world.clock.monotonic()
        await world.confirm()
        begins()
        output = await world.call(tool_run)
    return _Ran(output, world.clock.monotonic() - since, since - asked)


async def _allowed(state: CallState, spec: ToolSpec | None, run: Run) -> ToolOutput | None:
    """None for a call of an earlier claim that nobody has started, if it may run now."""
    if state.elsewhere:
        return ToolOutput(Status.UNKNOWN, ELSEWHERE)
    may = spec is not None and permitted(state, spec, run)
    return None if may else ToolOutput(Status.CANCELLED, NOT_STARTED)


async def _recover(
    state: CallState, spec: ToolSpec | None, tool_run: ToolRun, run: Run, world: Outside
) -> ToolOutput | None:
    """The outcome of an earlier claim's start, or None where running it (again) is right."""
    if state.elsewhere:
        return ToolOutput(Status.UNKNOWN, ELSEWHERE)
    if spec is None:
        return ToolOutput(Status.UNKNOWN, UNKNOWN)
    if spec.reconcilable:
        await world.confirm()
        try:
            found = await world.recall(tool_run)
        except Exception as error:  # noqa: BLE001  as above
            return ToolOutput(Status.UNKNOWN, f"{UNKNOWN} (Its own check broke off: {type(error).__name__}: {error})")
        if found is not None or permitted(state, spec, run):
            return found
        return ToolOutput(Status.CANCELLED, NOT_AGAIN)
    again = (spec.idempotent or spec.changes_nothing(dict(tool_run.arguments))) and permitted(state, spec, run)
    return None if again else ToolOutput(Status.UNKNOWN, UNKNOWN)


def permitted(state: CallState, spec: ToolSpec, run: Run) -> bool:
    """Whether the permission as it is now lets the call run."""
    permit = run.permit(state.call.name, orjson.loads(state.arguments), reads=state.read_only, delegates=spec.delegates)
    granted = state.approval is not None and state.approval.granted
    return permit.leave is Leave.ALLOW or (permit.leave is Leave.ASK and granted)


def close(state: CallState, epoch: int, fence: int, *, begun: bool) -> ToolResult:
    """The true answer to a call that nobody will finish. `begun`: claim `fence` has started it."""
    if state.elsewhere:
        return ToolResult(state.call.id, Status.UNKNOWN, ELSEWHERE, epoch=epoch)
    if state.intent is not None and state.fence < fence:
        return ToolResult(state.call.id, Status.UNKNOWN, UNKNOWN, epoch=epoch)
    said = STOPPED if begun or state.prestarted else NOT_STARTED
    return ToolResult(state.call.id, Status.CANCELLED, said, epoch=epoch)
