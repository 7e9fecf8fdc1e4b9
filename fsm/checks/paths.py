"""Takes each row of the table once, on the real loop, by the shortest way that `explore` found.

What the search did to a history becomes a plan for the outside: what the model says, what a person does, when the
time is up, when words come late. The store is a real file. Whoever gives a loop with a provider of their own (such as
one that speaks HTTP with a scripted server) has that asked for real; `Cued.cue` says what it should answer.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Final

import attrs

from fsm import events
from fsm.audit import audit
from fsm.graph import Row
from fsm.journal import open_journal
from fsm.loop import Loop
from states.contract import Budget, Contract, Permission, Verify
from states.fold import fold
from states.history import History
from states.messages import Call, Finish, Text, text_of
from states.names import RESTING, State
from states.ports import Opinion, ProviderTrouble, Reply, Request, TextDelta, ToolOutput, ToolRun, ToolSpec
from states.records import (
    JSON,
    Approval,
    ApprovalAsked,
    AssistantTurn,
    BudgetChange,
    Cancellation,
    Candidate,
    Compaction,
    Evidence,
    Finalized,
    GoalSet,
    HookResult,
    Judgement,
    Record,
    RunStarted,
    Settlement,
    Status,
    ToolResult,
    Trouble,
    TurnFailure,
    UserInput,
    Verification,
    VerifierResult,
)

from . import explore
from .broken import Broken
from .claims import STANDARD, Claim, gates_were_asked, passes_of
from .deeds import MakeLoop, graph_of
from .explore import Report
from .moves import Move, after, told
from .stage import SHELL, SPECS, TEST, StageClock, StageWorkspace
from .track import Track
from .world import LEDGER, LONG, NOW, READ, SECONDS, STARTED, at_once

SESSION: Final = "path"
LOOKS: Final = 3
"""How often `verify` looks at the workspace's revision: before a verifier, after it, and for the checks."""
PATIENCE: Final = 30.0
"""Seconds after which a path that does not end is given up."""


@attrs.define
class Cue:
    """What the model says next, and what happens before and after."""

    said: Reply | ProviderTrouble
    pause: float = 0.0
    """Seconds that it takes."""
    words: bool = False
    """Somebody says something meanwhile."""
    slow_tool: bool = False
    """The tool that it asks for takes all the time there is."""
    asks: str = ""
    """The tool that it asks for wants a person to answer this."""
    cancel: bool = False
    """The run is cancelled before it is said."""
    cancel_after: bool = False
    """The run is cancelled just after."""


@attrs.define
class Round:
    """What happens while one candidate is judged."""

    words: bool = False
    moved: bool = False
    """The workspace changes after the checks."""
    cancel_after: bool = False
    """The run is cancelled just after they were looked at."""
    opinion: VerifierResult | None = None
    """What the verifier says, if it is asked."""
    stops: list[HookResult] = attrs.field(factory=list)
    """What stop hooks say."""
    pause: float = 0.0
    """Seconds that they take."""


@attrs.frozen
class Person:
    """How a person takes a resting run up again."""

    words: str | None
    approves: tuple[str, ...]
    refuses: tuple[str, ...]
    more_time: bool


@attrs.define
class Plan:
    """A path, as the outside has to play it."""

    row: Row
    cues: list[Cue] = attrs.field(factory=list)
    people: list[Person] = attrs.field(factory=list)
    rounds: list[Round] = attrs.field(factory=list)
    cancel_in: State | None = None
    note: bool = False
    """Somebody leaves words before the model is asked for the first time."""
    opinion: VerifierResult | None = None
    """What the verifier says of the candidate that is being judged."""
    permission: Permission = Permission.FULL
    contract: Contract = STARTED.contract
    goal: str = ""


# --- from moves to a plan ---------------------------------------------------------------------------------------


def plans(report: Report) -> list[Plan]:
    """A plan for each row that an honest path takes, in the order of the table."""
    return [_plan(row, path) for row, path in report.paths.items()]


def _plan(row: Row, path: Sequence[Move]) -> Plan:
    plan, history = Plan(row), History(SESSION)
    for move in path:
        if move.transition is None:
            for record in move.records:
                _arrange(plan, history.state, record, move)
        history = after(history, move)
    return plan


def _arrange(plan: Plan, state: State, record: Record, move: Move) -> None:  # noqa: C901, PLR0912  one case a kind of record
    """What the outside has to do so that this record is written."""
    match record:
        case RunStarted(contract=contract, permission=permission):
            plan.contract = contract
            plan.permission = Permission.PLAN if permission is Permission.PLAN else plan.permission
        case AssistantTurn():
            said = Reply(record.blocks, record.finish, model="cued", finish_detail=record.finish.value)
            plan.cues.append(Cue(said, move.pause))
        case TurnFailure():
            plan.cues.append(Cue(ProviderTrouble(record.trouble, record.message), move.pause))
        case Compaction():
            plan.cues.append(Cue(Reply((Text(LEDGER),), Finish.STOP, model="cued")))
        case ApprovalAsked():
            plan.permission = Permission.ASK
        case ToolResult(asks=asks) if asks:
            plan.cues[-1] = Cue(_asks_for(READ), asks=asks)
        case Settlement() if move.pause:
            plan.cues[-1] = Cue(_asks_for(READ), slow_tool=True)  # a call that is run, so that time can pass
        case Candidate():
            plan.cues[-1].pause += move.pause  # nothing takes time between an answer and its candidacy
        case UserInput() if state in (State.PROVIDER_TURN, State.CANDIDATE_FINAL) and plan.cues:
            plan.cues[-1].words = True
        case UserInput() if state is State.PROVIDER_TURN and not isinstance(move.records[0], RunStarted):
            plan.note = True
        case UserInput() if state in (State.VERIFY, State.STOP_HOOK):
            plan.rounds[-1].words = True
        case GoalSet(text=text):
            plan.goal = text
        case VerifierResult() if state is State.STOP_HOOK:
            plan.rounds[-1].opinion, plan.rounds[-1].pause = record, move.pause
        case VerifierResult():
            plan.opinion = record
        case Verification():
            plan.rounds.append(Round(opinion=plan.opinion))
            plan.opinion = None
        case Evidence(exit_status=0):
            plan.cues.insert(len(plan.cues) - 1, Cue(_asks_for(SHELL, f'{{"command": "{TEST}"}}')))
        case HookResult():
            plan.rounds[-1].stops.append(record)
            plan.rounds[-1].pause = move.pause
        case Finalized(revision=revision):
            plan.rounds[-1].moved = revision != NOW
        case Cancellation():
            _cancelled(plan, state)
    if state in RESTING and record is move.records[-1]:
        plan.people.append(_person(move.records))


def _cancelled(plan: Plan, state: State) -> None:
    match state:
        case State.PROVIDER_TURN:
            plan.cues.append(Cue(_out_of_words(), cancel=True))
        case State.DISPATCH_TOOLS | State.CANDIDATE_FINAL:
            plan.cues[-1].cancel_after = True
        case State.STOP_HOOK:
            plan.rounds[-1].cancel_after = True
        case _:
            plan.cancel_in = state


def _person(opening: Sequence[Record]) -> Person:
    words = [record.text for record in opening if isinstance(record, UserInput)]
    return Person(
        words[0] if words else None,
        tuple(record.call for record in opening if isinstance(record, Approval) and record.granted),
        tuple(record.call for record in opening if isinstance(record, Approval) and not record.granted),
        more_time=any(isinstance(record, BudgetChange) for record in opening),
    )


def _asks_for(name: str, arguments: str = "{}") -> Reply:
    return Reply((Call("", name, arguments),), Finish.CALLS, model="cued", finish_detail="tool_calls")


def _out_of_words() -> ProviderTrouble:
    return ProviderTrouble(Trouble.REFUSED, "the path goes no further")


# --- the outside ------------------------------------------------------------------------------------------------


class Cued:
    """A model that follows the plan; also the rest of the outside, since one thing leads to another."""

    model = "cued"
    secrets: Sequence[str] = ()
    specs: Sequence[ToolSpec] = SPECS

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.cues = list(plan.cues)
        self.rounds = list(plan.rounds)
        self.round = Round()
        self.clock = _Clock(self)
        self.workspace = _Workspace(self)
        self.state = State.PROVIDER_TURN
        self.judging = False
        """The round of the candidate that is being judged has begun."""
        self.looks = 0
        self.slow_tool = False
        self.asks = ""
        self.loop: Loop | None = None

    async def cue(self) -> Reply | ProviderTrouble:
        """What is to be answered now. Afterwards the model has no more words and the run fails."""
        cue = self.cues.pop(0) if self.cues else Cue(_out_of_words())
        self.clock.advance(cue.pause)
        self.slow_tool, self.asks = cue.slow_tool, cue.asks
        if cue.words:
            await self.say()
        if cue.cancel:
            self.stop()
            await asyncio.sleep(0)
        self.clock.cancels = cue.cancel_after
        return cue.said

    async def say(self) -> None:
        if self.loop is not None:
            await self.loop.steer(SESSION, "and another thing")

    def stop(self) -> None:
        """A loop that runs the session takes a cancellation at once."""
        if self.loop is not None:
            at_once(self.loop.cancel(SESSION, "stop"))

    def shown(self, event: events.Event) -> None:
        if isinstance(event, events.ProviderRetry):  # whoever is about to sleep that long need not
            asyncio.get_running_loop().call_soon(self.clock.advance, event.delay)
        if isinstance(event, events.Moved):
            self.state = event.target
            self.judging = False
            refused = event.source is State.VERIFY and event.target is not State.STOP_HOOK
            if refused and self.round.opinion is not None:
                self.workspace.change()  # what was objected to is repaired, so that it is looked at again
            if event.target is self.plan.cancel_in:
                self.plan.cancel_in = None
                self.stop()

    # as a provider

    async def stream(self, request: Request) -> AsyncGenerator[TextDelta | Reply]:
        said = await self.cue()
        if isinstance(said, ProviderTrouble):
            raise said
        if text := text_of(said.blocks):
            yield TextDelta(text)
        yield said

    async def close(self) -> None:
        """Nothing is open."""

    # as a verifier

    async def opinion(self, caller: History, session: str, prompt: str) -> Opinion:
        said = self.round.opinion
        if said is None:
            return Opinion(Judgement.NONE)
        if said.revision != NOW:
            self.workspace.change()
        if self.state is State.STOP_HOOK:
            self.clock.advance(self.round.pause)
        return Opinion(said.judgement, said.said, unavailable=said.unavailable)

    # as a host with hooks

    def watches(self, name: str) -> bool:
        return False

    async def before(self, session: str, call: str, name: str, arguments: dict[str, JSON]) -> tuple[HookResult, ...]:
        return ()

    async def after(self, run: ToolRun, output: ToolOutput) -> ToolOutput:
        return output

    async def stopping(self, history: History) -> tuple[HookResult, ...]:
        self.clock.advance(self.round.pause)
        return tuple(attrs.evolve(said, candidate=history.candidate) for said in self.round.stops)

    # as a toolbox

    def spec(self, name: str) -> ToolSpec | None:
        return next((spec for spec in self.specs if spec.name == name), None)

    def complaint(self, name: str, arguments: JSON) -> str | None:
        return None if self.spec(name) else f"there is no tool {name!r}."

    async def run(self, run: ToolRun) -> ToolOutput:
        await asyncio.sleep(0)
        self.clock.advance(LONG if self.slow_tool else 0.0)
        found: dict[str, JSON] = {"command": TEST, "exit_status": 0} if run.name == SHELL else {}
        return ToolOutput(Status.OK, "done", found, asks=self.asks)

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        return None


class _Clock(StageClock):
    """Time that passes as planned; being asked for it is the moment at which a run can be cancelled between states."""

    def __init__(self, outside: Cued) -> None:
        super().__init__()
        self.outside = outside
        self.cancels = False

    def now(self) -> float:
        self._asked()
        return super().now()

    def monotonic(self) -> float:
        self._asked()
        return super().monotonic()

    def _asked(self) -> None:
        if self.cancels:
            self.cancels = False
            self.outside.stop()


class _Workspace(StageWorkspace):
    """What happens while the checks are looked at, and after."""

    def __init__(self, outside: Cued) -> None:
        super().__init__()
        self.outside = outside

    async def revision(self) -> str:
        outside = self.outside
        await asyncio.sleep(0)
        if outside.state is State.VERIFY and not outside.judging:
            outside.judging, outside.looks = True, 0
            outside.round = outside.rounds.pop(0) if outside.rounds else Round()
            if outside.round.words:
                await outside.say()
        if outside.state is State.VERIFY:
            outside.looks += 1
            outside.clock.cancels = outside.round.cancel_after and outside.looks == (
                LOOKS if outside.plan.contract.verify is Verify.ALWAYS else 1
            )
        if outside.state is State.FINALIZE and outside.round.moved:
            self.change()
        return await super().revision()


# --- following --------------------------------------------------------------------------------------------------


async def follow(make_loop: MakeLoop, plan: Plan, file: Path, claims: tuple[Claim, ...] = ()) -> History:
    """Play a plan on a loop with a new journal in `file`. Raises Broken if its row is not taken, or a claim breaks."""
    outside, journal = Cued(plan), open_journal(file)
    loop = make_loop(
        provider=[outside, outside],
        tools=outside,
        journal=journal,
        clock=outside.clock,
        workspace=outside.workspace,
        verifier=outside,
        hooks=outside,
        contract=plan.contract,
        budget=Budget(max_turns=None, seconds=SECONDS),
        permission=plan.permission,
    )
    outside.loop = loop
    async with asyncio.timeout(PATIENCE), loop:
        if plan.note:
            await journal.release(await journal.claim(SESSION, create=True))
            await journal.post(SESSION, "and this")
            await loop.resume(SESSION, "the task", on_event=outside.shown)
        else:
            await loop.run("the task", session=SESSION, goal=plan.goal, on_event=outside.shown)
        for person in plan.people:
            spent = fold(SESSION, await journal.read(SESSION)).seconds
            await loop.resume(
                SESSION,
                person.words,
                approve=person.approves,
                deny=person.refuses,
                budget=Budget(max_turns=None, seconds=spent + SECONDS) if person.more_time else None,
                on_event=outside.shown,
            )
        entries = await journal.read(SESSION)
    track = Track(loop.graph, (*STANDARD, gates_were_asked(passes_of(loop.graph)), *claims), History(SESSION))
    for entry in entries:
        track.take(entry)
    story = [f"{row.source} -- {row.event} --> {row.target}" for row in track.rows]
    for problem in (*track.problems, *audit(loop.graph, entries, SESSION)):
        raise Broken("paths", problem, story)
    if not track.rows[plan.row]:
        raise Broken("paths", f"the way to {told(plan.row)} did not take it", story)
    return track.history


def replay(make_loop: MakeLoop, folder: Path, *, claims: tuple[Claim, ...] = ()) -> int:
    """Follow every path; how many there were. Raises Broken at the first that fails.

    make_loop: takes provider, tools, journal, clock, workspace, verifier, hooks, contract, budget, permission by name.
    claims: further ones.
    """
    every = plans(explore.checked(graph_of(make_loop)))
    for number, plan in enumerate(every, 1):
        asyncio.run(follow(make_loop, plan, folder / f"{number}.db", claims))
    return len(every)
