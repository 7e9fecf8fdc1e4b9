"""What a walk can do to a session, and what it looks at after each deed. Knows nothing of how deeds are chosen."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import attrs

from fsm import events
from fsm.audit import audit
from fsm.graph import Graph, Row
from fsm.journal.memory import Fault, MemoryJournal
from fsm.loop import Loop
from fsm.result import Result, RunStatus
from fsm.world import NoHooks
from states import ports
from states.errors import ConfigError, Fenced, JournalError, SessionBusy
from states.history import History
from states.names import RESTING
from states.ports import Draft
from states.records import Finalized, Prestart, Record, Status, ToolIntent, ToolResult, Verification

from .broken import Broken
from .claims import Claim
from .replay import Prefix
from .stage import SPECS, Bench, Doubter, Host, Ledger, Prompter, StageClock, StageWorkspace
from .track import Track

MakeLoop = Callable[..., Loop]
"""Takes provider (a chain of two), tools, journal, clock, workspace, verifier, hooks by name; makes a user's loop."""

PATIENCE: Final = 20
"""Rounds of the event loop in which nothing may happen before everybody is taken to wait for a cue."""
_STAGED: Final = frozenset(spec.name for spec in SPECS)
STORE_FAILED: Final = frozenset({"message_persistence_failed", "tool_persistence_failed", "journal_failed"})
"""Reasons of a run whose store failed."""


@attrs.define(eq=False)
class Process:
    """One process that runs the session: its loop, its model, its tools, and what it is doing."""

    loop: Loop
    model: Prompter
    bench: Bench
    verifier: Doubter
    task: "asyncio.Task[Result] | None" = None
    over: bool = False
    """It had nothing more to write when it lost the session: its run rested, or its store had failed."""

    async def drop(self) -> None:
        """End it without letting it do anything more: its claim is gone, so it can write nothing."""
        if self.task is not None:
            self.task.cancel()
            with suppress(asyncio.CancelledError, JournalError):
                await self.task


def graph_of(make_loop: MakeLoop) -> Graph:
    """The table of the loops that it makes. Raises ConfigError for what makes none of given parts."""
    graph = getattr(_probe(make_loop), "graph", None)
    if not isinstance(graph, tuple):
        raise ConfigError(f"{_named(make_loop)} makes no Loop. {MAKES_LOOPS}")
    return graph


MAKES_LOOPS: Final = (
    "A function is needed that makes a Loop of given parts: def make_loop(**parts): return Loop(**{**MINE, **parts})"
)


def _named(make_loop: object) -> str:
    return getattr(make_loop, "__qualname__", None) or repr(make_loop)


def _probe(make_loop: MakeLoop) -> object:
    nobody = Ledger(lambda _: None, lambda _: False)
    try:
        return make_loop(
            provider=Prompter(nobody, lambda _: ()),
            tools=Bench(nobody, StageWorkspace()),
            journal=MemoryJournal(),
            clock=StageClock(),
            workspace=StageWorkspace(),
            verifier=Doubter(nobody, lambda *_: False),
            hooks=NoHooks(),
        )
    except TypeError as error:
        raise ConfigError(f"{_named(make_loop)} does not take the parts of a loop ({error}). {MAKES_LOOPS}") from error


class Deeds:
    """One journal with faults, one session after the other, and whoever runs them."""

    make_loop: MakeLoop
    graph: Graph
    claims: tuple[Claim, ...]
    visited: Counter[Row]

    def __init__(self) -> None:
        super().__init__()
        self.clock: StageClock = StageClock()
        self.workspace = StageWorkspace()
        self.faults: list[Fault] = []
        self.moods: list[ports.Opinion] = []
        """What the verifier says next, instead of agreeing."""
        self.refusals: list[str] = []
        """What a stop hook says next."""
        self.journal = MemoryJournal(self._next_fault(), after=self._appended, now=self.clock.now)
        self.ledger = Ledger(self._intent, self._answered)
        self.tracks: dict[str, Track] = {}
        self.known_findings: dict[str, int] = {}
        """What an audit says of the past that a walk has taken up."""
        self.verified_at: dict[str, int] = {}
        """How often the workspace had been looked at when a session's candidate was verified."""
        self.session = ""
        self.here: Process | None = None
        self.zombies: list[Process] = []
        self.hint = ""
        """What the search did next, after the past that was taken up."""
        self.activity = 0
        self.failed_commit = False
        self.taking_up = False
        """The past of a session is being written, and no loop has a part in it."""

    # --- what the stage asks ------------------------------------------------------------------------------------

    def _next_fault(self) -> Iterator[Fault]:
        while True:
            self.failed_commit |= bool(self.faults)
            yield self.faults.pop() if self.faults else Fault.NONE

    def _appended(self, claim: ports.Claim, drafts: Sequence[Draft]) -> None:
        self.activity += 1
        track = self.tracks[claim.session]
        for draft in drafts:
            track.take(draft.entry)
            if isinstance(draft.entry.record, Verification):
                self.verified_at[claim.session] = self.workspace.looks
            if not self.taking_up:
                self._is_of_its_start(track, draft.entry.record)
                self._is_of_a_look(claim.session, draft.entry.record)

    def _is_of_a_look(self, session: str, record: Record) -> None:
        """A receipt that names the workspace is written by somebody who looked at it after it was verified."""
        if isinstance(record, Finalized) and record.revision and self.workspace.looks <= self.verified_at[session]:
            self.ledger.problems.append(f"the receipt says {record.revision}, and nobody looked since it was verified")

    def _is_of_its_start(self, track: Track, record: Record) -> None:
        """What a tool is said to have left is what it left under this very intent."""
        if not isinstance(record, ToolResult) or record.status is not Status.OK or "recovered" in record.metadata:
            return
        state = track.history.calls.get(record.call)
        ours = state is not None and state.call.name in _STAGED  # others are tools of the loop's own
        if ours and state is not None and not self.ledger.starts.get(f"{track.history.session}:{state.intent}"):
            self.ledger.problems.append(f"{record.call} is said to be done; intent {state.intent} was never started")

    def _entry(self, key: str) -> tuple[Track, object]:
        session, _, seq = key.rpartition(":")
        track = self.tracks[session]
        return track, track.entries[int(seq) - 1].record if int(seq) <= len(track.entries) else None

    def _intent(self, key: str) -> ToolIntent | Prestart | None:
        record = self._entry(key)[1]
        return record if isinstance(record, ToolIntent | Prestart) else None

    def _answered(self, key: str) -> bool:
        """Whether an intent has its answer, or is dead."""
        track, record = self._entry(key)
        if not isinstance(record, ToolIntent | Prestart):
            return True
        seq = int(key.rpartition(":")[2])
        early, state = track.history.early.get(record.call), track.history.calls.get(record.call)
        if early is not None and early.intent == seq:
            return False
        return state is None or state.intent != seq or state.result is not None

    def _shown(self, event: events.Event) -> None:
        """What is shown as durable must be."""
        self.activity += 1
        if event.seq is not None and event.seq > self.track.history.seq:
            self.ledger.problems.append(f"{type(event).__name__} {event.seq} is shown before it is durable")

    @property
    def track(self) -> Track:
        return self.tracks[self.session]

    @property
    def history(self) -> History:
        return self.track.history

    # --- looking ------------------------------------------------------------------------------------------------

    async def perform(self, deed: Callable[[], object]) -> None:
        """Do it, let everybody act until all wait for a cue, and look."""
        done = deed()
        if asyncio.iscoroutine(done):
            await done
        await self._settle()
        self._look()

    async def _settle(self) -> None:
        """Let everybody act until all wait for a cue."""
        quiet, seen = 0, -1
        while quiet < PATIENCE:
            await asyncio.sleep(0)
            now = self.activity + sum(self.ledger.starts.values()) + (self.here.model.requests if self.here else 0)
            quiet, seen = (quiet + 1 if now == seen else 0), now

    def _look(self) -> None:
        """Did anything happen that must not? Did the run come to an end?"""
        if self.here is not None and self.here.task is not None and self.here.task.done():
            task, self.here.task = self.here.task, None
            self._ended(task)
        for zombie in [zombie for zombie in self.zombies if zombie.task is not None and zombie.task.done()]:
            self.zombies.remove(zombie)
            if not zombie.over:
                self._lost(zombie.task)
        problems = self.ledger.problems + [problem for track in self.tracks.values() for problem in track.problems]
        if problems:
            raise Broken("walk", problems[0])

    def _ended(self, task: "asyncio.Task[Result]") -> None:
        """A run that ended says what the journal says."""
        history = self.history
        if self.failed_commit:
            self.failed_commit = False
            self.faults.clear()
            self.here = None
            self.journal.crash()  # whoever comes next opens the journal anew
            said = None if task.cancelled() else task.result().reason
            known = said is None or said in STORE_FAILED
            self._require(known or history.state in RESTING, f"a failed store is called {said}")
            return
        if task.cancelled():
            at_once = task.cancelling() > 1  # a caller who cancels twice does not wait for the rest
            self._require(at_once or history.state in RESTING, "a cancelled caller leaves a run that does not rest")
            return
        self._require(not isinstance(task.exception(), Fenced), "the store refused the owner of the session")
        result = task.result()
        self._require(
            history.state.value == result.status.value, f"{result.status} is said, {history.state} is durable"
        )
        if result.status is RunStatus.SUCCEEDED:
            receipts = [entry.record for entry in self.track.entries if isinstance(entry.record, Finalized)]
            self._require(bool(receipts) and result.receipt == receipts[-1], "success without its durable receipt")
        if result.status is RunStatus.SUSPENDED:
            self._require(
                history.rest is not None and result.reason == history.rest.waits_for, "another rest is durable"
            )

    def _lost(self, task: "asyncio.Task[Result] | None") -> None:
        """A process that lost its session learns it from the store, and only from there."""
        if task is None or task.cancelled():
            return
        error = task.exception()
        if error is None and task.result().reason in STORE_FAILED:  # the store failed for all before it could tell
            return
        self._require(isinstance(error, Fenced), f"a process that had lost the session ended with {error!r}")

    def _require(self, holds: bool, why: str) -> None:
        if not holds:
            raise Broken("walk", why)

    # --- doing --------------------------------------------------------------------------------------------------

    def _process(self) -> Process:
        model = Prompter(self.ledger, lambda session: self.tracks[session].history.messages)
        bench = Bench(self.ledger, self.workspace)
        verifier = Doubter(
            self.ledger, lambda caller, session: session in self.tracks[caller].history.verifiers, self.moods
        )
        host = Host(self.ledger, lambda session: self.tracks[session].history.candidate, self.refusals)
        loop = type(self).make_loop(
            provider=[model, model],
            tools=bench,
            journal=self.journal,
            clock=self.clock,
            workspace=self.workspace,
            verifier=verifier,
            hooks=host,
        )
        self.ledger.prestart = loop.prestart
        return Process(loop, model, bench, verifier)

    def _new_session(self) -> None:
        self.session = f"walk-{len(self.tracks) + 1}"
        self.tracks[self.session] = Track(self.graph, self.claims, History(self.session), rows=self.visited)

    async def begin(self) -> None:
        self._new_session()
        self.here = self._process()
        self.here.task = asyncio.create_task(self.here.loop.run("the task", session=self.session, on_event=self._shown))

    async def take_up(self, start: Prefix) -> None:
        self.faults.clear()
        self._new_session()
        self.faults.clear()  # the store fails a run, not whoever writes down where it begins
        claim = await self.journal.claim(self.session, create=True)
        rows, track = Counter(self.visited), self.track
        self.faults.clear()  # those were meant for a loop
        self.taking_up = True
        await self.journal.append(claim, start.drafts)
        self.taking_up = False
        await self.journal.release(claim)
        self.visited.clear()
        self.visited.update(rows)  # only what the loop does counts
        self.known_findings[self.session] = len(audit(self.graph, track.entries, self.session))
        self.hint = start.hint
        self.clock.time = max(self.clock.time, track.history.at)
        self.here = None

    async def resume(self, message: str | None = None, **options: Any) -> None:
        self.here = self.here or self._process()
        if self.history.started is None:  # lost before it began: only a task begins it
            message = message or "the task"
        self.here.task = asyncio.create_task(
            self.here.loop.resume(self.session, message, on_event=self._shown, **options)
        )

    async def cancel_idle(self) -> None:
        self.faults.clear()  # a fault that waited for a commit that never came
        process = self.here or self._process()
        self.faults.clear()  # a store that fails here fails the caller, who is no run
        rests = self.history.state in RESTING
        try:
            stopped = await process.loop.cancel(self.session, "not wanted any more")
        except JournalError:
            self._require(self.failed_commit, "a cancellation failed, and the store had not")
            self.failed_commit, self.here = False, None
            self.journal.crash()  # whoever comes next opens the journal anew
            return
        self._require(stopped is not rests, f"cancelling in {self.history.state} said {stopped}")
        self._require(self.history.state in RESTING, "a cancelled run does not rest")

    async def cancel_from_afar(self) -> None:
        other = self._process()
        self._require(await other.loop.cancel(self.session), "a running session was said to be at rest")
        self.clock.advance(1.0)

    async def crash(self, *, happened: bool) -> None:
        """The process is gone between two instructions; what its tools had begun may have happened."""
        if self.here is None:
            return
        here, self.here = self.here, None
        here.bench.dead = True
        if happened:
            for waiting in here.bench.waiting:
                if not waiting.cue.done():  # one that had ended has had its effect
                    here.bench.effect(waiting)
        self.journal.crash()
        self.faults.clear()
        self.failed_commit = False
        await here.drop()

    async def take_over(self) -> None:
        """The store gives the session to another process; this one does not know it yet."""
        if self.here is None or not self.journal.held(self.session):  # two that only begin are told apart by the store
            return
        self.here.bench.dead = True
        self.here.over = self.failed_commit or self.history.state in RESTING
        self.here.model.overtaken = True
        self.zombies.append(self.here)
        self.here = None
        self.journal.crash()
        self.faults.clear()
        self.failed_commit = False
        await self.resume()

    async def try_to_own(self) -> None:
        seq = self.history.seq
        with suppress(SessionBusy):
            await self._process().loop.resume(self.session, "me too")
            raise Broken("walk", "two processes run one session")
        self._require(self.history.seq == seq, "a refused owner has written")

    async def end(self, *, broken: bool) -> None:
        """Nobody runs anything any more. The journal must hold what was seen, and justify it."""
        for process in [*self.zombies, *([self.here] if self.here else [])]:
            process.bench.dead = True
            self.journal.crash()
            await process.drop()
        self.journal.crash()
        for session, track in self.tracks.items() if not broken else ():
            entries = await self.journal.read(session)
            self._require(entries == track.entries, "the journal does not hold what it said that it held")
            self._require((again := track.fold_again()) is None, again or "")
            findings = audit(self.graph, entries, session)[self.known_findings.get(session, 0) :]
            self._require(not findings, f"the audit says: {findings[:1]}")
