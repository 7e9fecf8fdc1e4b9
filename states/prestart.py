"""Starts calls while their answer is still being streamed: only what reads, and only what the loop's list names.

A call starts early if its tool is on the list, declares itself read-only and concurrency-safe, permission lets it, and
every call before it in the answer has started so too: then nothing exclusive stands before it, and intents are in the
model's order. Its intent is durable first. If the turn does not come, what ran ahead is stopped, waited for and
dropped, and its epoch with it: a result that comes late, even a good one, is a cancelled one.
"""

import asyncio
from collections import deque
from types import TracebackType
from typing import Final, Self

import attrs

from .await_results import run_ahead
from .dispatch_tools import canonical, decide, parse
from .history import CallState, Early, History
from .messages import Finish, calls_of
from .ports import CallReady, Outside, Run
from .records import AssistantTurn, Fate, Prestart, PrestartsDropped, Record, Status, ToolIntent, ToolResult

LOST: Final = "the process was lost before its turn was committed"
STOPPED: Final = "stopped before it came to an end"
LATE: Final = "it came to an end; its result is not used"


class Line:
    """The calls of one answer, as they become complete. An asynchronous context: leaving it by an error ends them."""

    def __init__(self, run: Run, world: Outside) -> None:
        self._run = run
        self._world = world
        self._open = bool(run.prestart)
        self._due = 0
        """The place of the next call that may start."""
        self._waiting: deque[Prestart] = deque()
        self._tail: asyncio.Task[None] | None = None
        self._activity = asyncio.current_task()
        self._failure: Exception | None = None

    def offer(self, ready: CallReady) -> None:
        """Start the call, if it may start now. It does not wait: the stream goes on meanwhile."""
        if not self._open:
            return
        intent = _may_start(ready, self._run) if ready.order == self._due else None
        if intent is None:
            self._open = False  # whatever comes after this call has to wait for it
            return
        self._due += 1
        self._waiting.append(Prestart(intent.call, intent.name, intent.arguments, intent.order, intent.epoch))
        if self._tail is None or self._tail.done():
            self._tail = asyncio.create_task(self._start())

    async def _start(self) -> None:
        """The one tail: intents become durable in their order, those that wait together at once; then they run."""
        try:
            while self._waiting:
                batch = list(self._waiting)
                self._waiting.clear()
                await self._run.commit(*batch)
                for record in batch:
                    early = self._run.history.early[record.call]
                    self._run.ahead.start(record.call, run_ahead(early, self._run, self._world))
        except Exception as error:  # noqa: BLE001  the store failed: nothing may start, and the run stops at once
            self._failure, self._open = error, False
            if self._activity is not None:
                self._activity.cancel()

    async def turn(self, turn: AssistantTurn) -> tuple[Record, ...]:
        """The whole answer as records: it adopts what ran ahead of it, or what did is dropped first."""
        await self._close()
        why = _unfit(turn, self._run.history)
        if not why:
            return (turn,)
        return (*await self.drop(why), attrs.evolve(turn, epoch=self._run.history.epoch + 1))

    async def drop(self, why: str) -> tuple[PrestartsDropped, ...]:
        """Stop what runs ahead and wait for it; the record of that, if anything did."""
        await self._close()
        early = self._run.history.early
        if not early:
            return ()
        said = await self._run.ahead.stop()
        fates = tuple(_fate(known, said.get(call)) for call, known in early.items())
        return (PrestartsDropped(self._run.history.epoch + 1, why, fates),)

    async def _close(self) -> None:
        """Nothing more starts; what is being committed is waited for. Raises what the store raised."""
        self._open = False
        self._waiting.clear()
        await self._ended()
        if self._failure is not None:
            raise self._failure

    async def _ended(self) -> None:
        if self._tail is not None and not self._tail.done():
            await asyncio.wait([self._tail])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            return
        if self._failure is None and isinstance(error, asyncio.CancelledError):
            await self._run.commit(*await self.drop("the run was stopped"))
            return
        self._waiting.clear()
        await self._ended()
        await self._run.ahead.stop()
        if self._failure is not None and error is not self._failure:
            if self._activity is not None:
                self._activity.uncancel()
            raise self._failure from None


def _may_start(ready: CallReady, run: Run) -> ToolIntent | None:
    """The intent of a call that may start before its turn is there."""
    history, call = run.history, attrs.evolve(ready.call, id=run.history.call_id(ready.order))
    if call.name not in run.prestart or run.hooked(call.name) or not _affords(history, ready.order):
        return None
    decided = decide(CallState(call, ready.order), run)
    fit = isinstance(decided, ToolIntent) and decided.read_only and decided.shared
    return decided if isinstance(decided, ToolIntent) and fit else None


def _affords(history: History, order: int) -> bool:
    """Whether the run goes on to its calls once this turn is counted."""
    budget = history.budget
    turns = budget.max_turns is None or history.turns + 1 < budget.max_turns
    return turns and (budget.max_tool_calls is None or history.tool_calls + order < budget.max_tool_calls)


def _unfit(turn: AssistantTurn, history: History) -> str:
    """Why the turn cannot adopt what runs ahead of it; empty if it can."""
    if not history.early:
        return ""
    if turn.finish in (Finish.LENGTH, Finish.FILTERED):
        return f"the answer ended with {turn.finish}: its calls are not run"
    calls = calls_of(turn.blocks)
    for early in history.early.values():
        known, order = early.record, early.record.order
        said = _spelled(calls[order].name, calls[order].arguments) if order < len(calls) else None
        if said != (known.name, known.arguments):
            return f"the answer does not hold {known.call} as it had been announced"
    return ""


def _spelled(name: str, arguments: str) -> tuple[str, str] | None:
    """Name and canonical arguments of a call; None if they are no JSON."""
    try:
        return name, canonical(parse(arguments))
    except (ValueError, TypeError):
        return None


def _fate(early: Early, said: ToolResult | None) -> Fate:
    note = STOPPED if said is None or said.status is Status.CANCELLED else LATE
    return Fate(early.intent, Status.CANCELLED, note)


def lost(history: History) -> tuple[PrestartsDropped, ...]:
    """The end of what a process that is gone had started ahead of a turn; nothing if there is nothing of that kind."""
    if not history.early:
        return ()
    fates = tuple(Fate(early.intent, Status.UNKNOWN, LOST) for early in history.early.values())
    return (PrestartsDropped(history.epoch + 1, LOST, fates),)
