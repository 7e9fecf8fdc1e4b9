"""Moves one claimed run: act, stage what it left, ask the table, stage the move, and let the store decide.

Staged records are folded at once but count for nobody else until they are durable: the only way to the outside
(`outside`) makes everything staged durable first. So a state without effects costs no commit of its own, and a
verdict becomes durable in the same instant as what it judges, or not at all. There is no logic of the loop here.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from gates.gate import Asked, Gate
from gates.permission import permit
from gates.phrases import understanding
from states import ACTIVITIES
from states.ahead import Ahead
from states.await_results import close
from states.codec import decode, kind_of, settle
from states.errors import CommitFailed, InterlockError, JournalError, JournalUnusable, Unsealed
from states.fold import apply, fold
from states.history import History
from states.messages import text_of
from states.names import ENDS, RESTING, Event, State
from states.ports import (
    Claim,
    CompactionNotice,
    Draft,
    Journal,
    Outside,
    ProviderTrouble,
    ReasoningDelta,
    RetryNotice,
    TextDelta,
    Toolbox,
)
from states.prestart import lost
from states.records import (
    JSON,
    Cancellation,
    Entry,
    Failed,
    Prestart,
    Record,
    RunStarted,
    Source,
    Spent,
    StopAnswer,
    Summary,
    ToolIntent,
    ToolResult,
    Transition,
    UserInput,
    Verdict,
)
from states.rules import Permit
from states.verdicts import WaitsFor

from . import events
from .approvals import Approver, ask
from .graph import Graph
from .machine import Decision, decide
from .reasons import reason_of
from .redact import Redactor
from .standing import question, reply_to
from .voice import Voice
from .world import World

_LONG: Final = frozenset({State.PROVIDER_TURN, State.AWAIT_RESULTS})
"""States whose activity ends when the run's seconds are over."""


@attrs.define(eq=False)
class Driver:
    """One run in one process. Implements `states.ports.Run` for the activities."""

    graph: Graph
    world: World
    journal: Journal
    claim: Claim
    history: History
    redactor: Redactor
    voice: Voice
    prestart: frozenset[str] = frozenset()
    ahead: Ahead = attrs.field(factory=Ahead)
    stale_notes: int = 0
    """Cancellations up to this note were meant for an earlier run."""
    words_wait: bool = False
    """Inputs were waiting when the session was claimed."""
    broken: Failed | None = None
    """Why the store stopped the run; then nothing of its end is durable."""
    caller_cancelled: bool = False
    approver: Approver | None = None
    """Who answers approvals while the run goes on."""
    _staged: list[Draft] = attrs.field(factory=list)
    _flushing: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    _refused: bool = False
    """The store would not take what is staged."""
    _activity: "asyncio.Task[None] | None" = None
    _since: tuple[float, float] | None = None
    """The wall clock and the steady one, when this process began."""
    _cancellation: Cancellation | None = None
    _given_up: Spent | None = None

    # --- driving ------------------------------------------------------------------------------------------------

    def catch_up(self) -> bool:
        """Make the move that was due when the last owner was lost: what is said now comes after it. True if one was.

        A rest that was about to end is not one: whoever goes on now ends it anew. Raises GateError.
        """
        due = self.history.closing_event
        if due is None or self.history.state in RESTING:
            return False
        self._move(decide(self.graph, self.history.state, due, self.history))
        return True

    async def begin(self, records: tuple[Record, ...]) -> None:
        """Commit what opens the run: nothing is done before that is durable."""
        self._stage(*records)
        if any(isinstance(record, RunStarted) for record in records):
            for gate in gates_of(self.graph):
                self._stage(*await gate.begin(self.world))
        try:
            await self._flush()
        except (CommitFailed, JournalUnusable) as error:
            await self._halt(error)
        except asyncio.CancelledError:
            self._caller_cancels()

    async def drive(self) -> None:
        """Until the run rests, durably. Raises Fenced, GateError and whatever a port raises that it should not.

        A failing store is reported in `broken`.

        A first cancellation of the calling task lets the run rest, committed, and is left in `caller_cancelled`;
        a second one leaves at once.
        """
        try:
            while self.broken is None and not await self._rests():
                pass
        except (CommitFailed, JournalUnusable) as error:
            await self._halt(error)
        except Exception:
            with suppress(JournalError):  # what had happened before is not undone by what went wrong after it
                await self._flush()
            raise
        finally:
            await self.ahead.stop()
            self.voice.quiet()

    async def _rests(self) -> bool:
        """One step; true once the run rests and that is durable."""
        try:
            if self.history.state in RESTING and self.history.closing_event is None:
                await self._flush()
                return True
            event = self.history.closing_event or await self._act()
            if event is not None:
                decision = decide(self.graph, self.history.state, event, self.history)
                if decision.target in RESTING:
                    await self.ahead.stop()
                self._move(decision)
        except Unsealed:  # an input came before the seal: the store refused it all, so nothing of it happened
            await self._reload()
        except asyncio.CancelledError:
            self._caller_cancels()
        return False

    async def _act(self) -> Event | None:
        """Run the state's activity, cancellable at any await; what it leaves is staged."""
        if self._cancellation is None:
            self._activity = asyncio.create_task(self._perform())
            try:
                await self._watch(self._activity)
            finally:
                self._activity = None
        if self.history.closing_event is None and self._cancellation is not None:
            before = await self.inputs() if self._cancellation.inbox is not None else ()
            answers = await self.ahead.stop()
            self._stage(*lost(self.history))
            self._close_calls(answers)
            spent, self._given_up = self._given_up, None
            self._stage(*before, attrs.evolve(self._cancellation, spent=spent) if spent else self._cancellation)
        return self.history.closing_event

    async def _perform(self) -> None:
        outcome = await ACTIVITIES[self.history.state](self)
        self._stage(*outcome.records)
        if self.history.closing_event is not outcome.event:
            raise InterlockError(
                f"the activity of {self.history.state} says {outcome.event}; its records say otherwise"
            )

    async def _watch(self, activity: "asyncio.Task[None]") -> None:
        try:
            done, _ = await asyncio.wait([activity], timeout=self._seconds_left())
            if not done:
                self.cancel(f"out of budget: {self.history.budget.seconds:g} seconds", waits_for=WaitsFor.BUDGET)
                await asyncio.wait([activity])
        except asyncio.CancelledError:
            self._caller_cancels()
            await asyncio.wait([activity])
        self.voice.rest()
        if not activity.cancelled():
            activity.result()
        elif self._cancellation is None:
            raise InterlockError(f"something within the activity of {self.history.state} cancelled it")

    def _seconds_left(self) -> float | None:
        """Until the run's time is over. None without a limit, and for the gates: an answer that is there is judged."""
        if self.history.budget.seconds is None or self.history.state not in _LONG:
            return None
        ours = self.history.fence == self.claim.fence  # else the run lay still since the last record
        since = max(0.0, self._now() - self.history.at) if ours else 0.0
        return max(0.0, self.history.budget.seconds - self.history.seconds - since)

    def _now(self) -> float:
        """Seconds since the epoch that never jump within one process: a run's time is counted from its entries."""
        clock = self.world.clock
        if self._since is None:
            self._since = clock.now(), clock.monotonic()
        began, steady = self._since
        return began + clock.monotonic() - steady

    def _caller_cancels(self) -> None:
        if self.caller_cancelled:
            raise asyncio.CancelledError
        self.caller_cancelled = True
        self.cancel("the caller cancelled the run")

    def cancel(self, reason: str, note: int | None = None, waits_for: WaitsFor = WaitsFor.RESUME) -> None:
        """Stop what is going on; the run then rests, committed."""
        if self._cancellation is None:
            self._cancellation = Cancellation(reason, note, waits_for)
            if self._activity is not None:
                self._activity.cancel()

    @property
    def cancelled(self) -> bool:
        return self._cancellation is not None

    def _move(self, decision: Decision) -> None:
        if decision.target is None:
            raise InterlockError(
                f"no row of the table takes {decision.event} in {decision.source}; `interlock check` says why"
            )
        rests_on = [self.history.closing]
        for gate, ruling in decision.rulings:
            self._stage(Verdict(gate.name, ruling))
            rests_on.append(self.history.seq)
        if decision.target in ENDS:
            self._close_calls()
        self._stage(*reason_of(decision, self._cancellation, self.history))
        self._stage(Transition(decision.source, decision.event, decision.target, tuple(rests_on)))

    async def summarise(self) -> None:
        """Ask once, without tools, where things stand, and commit what is said. A provider in trouble says nothing."""
        provider = self.world.providers[self.history.provider]
        try:
            reply = await reply_to(provider, question(self.history))
        except ProviderTrouble:
            return
        if text := text_of(reply.blocks).strip():
            cost = self.world.cost(reply.model or provider.model, reply.usage)
            await self.commit(Summary(text, reply.model, reply.usage, cost))

    def _close_calls(self, answers: Mapping[str, ToolResult | None] = MappingProxyType({})) -> None:
        """Nobody will finish the open calls: each gets the answer that is true of it, or its own in `answers`."""
        for state in self.history.open_calls():
            said = answers.get(state.call.id)
            self._stage(said or close(state, self.history.epoch, self.claim.fence, begun=False))

    async def _halt(self, error: Exception) -> None:
        """The store failed. The table says where that leads; nobody can write it down."""
        if not self._refused:  # it was read, not written: what had happened before can still be kept
            with suppress(JournalError):
                await self._flush()
        target = decide(self.graph, self.history.state, Event.COMMIT_FAILED, self.history).target
        tools = any(isinstance(draft.entry.record, ToolIntent | Prestart | ToolResult) for draft in self._staged)
        words = "tool_persistence_failed" if tools else "message_persistence_failed"
        code = words if self._staged else "journal_failed"
        if target is not State.FAILED and self.history.state not in RESTING:
            raise InterlockError(f"no row of the table takes {Event.COMMIT_FAILED} in {self.history.state}") from error
        self.broken = Failed(code, str(error))

    async def _reload(self) -> None:
        """Go back to what is durable: entering a state again is recovery."""
        self._staged.clear()
        self.history = fold(self.claim.session, await self.journal.read(self.claim.session))

    # --- committing ---------------------------------------------------------------------------------------------

    def _stage(self, *records: Record) -> None:
        for record in records:
            kept, body = settle(record)
            clean = self.redactor.body(body)
            if clean != body:
                kept = decode(clean)
            entry = Entry(self.history.seq + 1, self._now(), self.claim.fence, kept)
            apply(self.history, entry)
            seals = kept.sealed if isinstance(kept, StopAnswer) else None
            self._staged.append(Draft(entry, kind_of(kept), clean, seals))
            if isinstance(kept, UserInput) and kept.source is not Source.PLAN:
                understood = understanding(self.history, kept.text)
                self._stage(*((understood,) if understood else ()))

    async def _flush(self) -> None:
        async with self._flushing:  # gates may reach for the outside side by side
            await self._flush_in_turn()

    async def _flush_in_turn(self) -> None:
        if not self._staged:
            return
        batch = list(self._staged)
        try:
            cancelled = await _finish(self.journal.append(self.claim, batch))
        except (CommitFailed, JournalUnusable):
            self._refused = True
            raise
        del self._staged[: len(batch)]
        for draft in batch:
            self.voice.entry(draft.entry, self.claim.session, self.history.calls)
        if cancelled is not None:
            raise cancelled

    # --- what activities use ------------------------------------------------------------------------------------

    @property
    def session(self) -> str:
        return self.claim.session

    @property
    def fence(self) -> int:
        return self.claim.fence

    @property
    def tools(self) -> Toolbox:
        return self.world.tools

    def hooked(self, name: str) -> bool:
        return self.world.hooks.watches(name)

    def permit(self, name: str, arguments: JSON, *, reads: bool, delegates: bool = False) -> Permit:
        return permit(self.history, name, arguments, reads=reads, delegates=delegates)

    @property
    def answers_at_once(self) -> bool:
        return self.approver is not None

    async def approvals(self) -> tuple[Record, ...]:
        return await ask(self.approver, self.history) if self.approver else ()

    async def inputs(self) -> tuple[UserInput, ...]:
        notes = await self.journal.notes(self.claim.session, self.history.noted)
        taken: list[UserInput] = []
        for note in notes:
            if note.text is not None:
                taken.append(UserInput(note.text, Source.STEERING, inbox=note.number))
            elif note.number > self.stale_notes:
                self.cancel("asked for by another process", note.number)
                break
        return tuple(taken)

    async def outside(self, *records: Record) -> Outside:
        self._stage(*records)
        if self._staged:
            await self._flush()
        else:
            await self.journal.confirm(self.claim)
        if self.history.state is State.PROVIDER_TURN:
            self.voice.publish(events.TurnStart(self.history.turns + 1))
        return self.world

    async def commit(self, *records: Record) -> None:
        self._stage(*records)
        await self._flush()

    async def gather(self) -> tuple[Record, ...]:
        found: list[Record] = []
        for gate in gates_at(self.graph, self.history.state):
            found += await gate.gather(self.history, self.outside)
        return tuple(found)

    def show(self, item: TextDelta | ReasoningDelta | RetryNotice | CompactionNotice) -> None:
        self.voice.item(item)

    def give_up(self, spent: Spent | None) -> None:
        self._given_up = spent

    def show_progress(self, call: str, text: str) -> None:
        self.voice.progress(call, text)


@lru_cache(maxsize=64)
def gates_of(graph: Graph) -> tuple[Gate, ...]:
    """Every gate that the graph asks, each once."""
    return tuple({gate.name: gate for state in State for gate in gates_at(graph, state)}.values())


@lru_cache(maxsize=256)
def gates_at(graph: Graph, state: State) -> tuple[Gate, ...]:
    """The gates that rows of `state` ask, in their order."""
    return tuple(
        {
            guard.gate.name: guard.gate
            for row in graph
            if row.source is state
            for guard in row.guards
            if isinstance(guard, Asked)
        }.values()
    )


async def _finish(work: Coroutine[None, None, None]) -> asyncio.CancelledError | None:
    """Wait for something that must not be cut in half; a cancellation meanwhile is handed back, not lost."""
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None and isinstance(task.exception(), Unsealed):
        raise cancelled  # nothing was written, and the caller wants to stop: what is staged will be sealed no more
    task.result()
    return cancelled
