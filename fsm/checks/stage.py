"""The outside world of a run on a stage: each actor waits for its cue, and the ledger remembers what really happened.

A model that answers when it is told to, tools whose effects are counted, a clock and a workspace that stand still
until somebody moves them. They check what only the outside can see, and note it in `Ledger.problems`.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Final

import attrs

from states.history import History
from states.ledger import INSTRUCTION, transcript
from states.messages import Message, UserMessage, text_of
from states.ports import (
    CallReady,
    Opinion,
    ProviderTrouble,
    Reply,
    Request,
    StreamItem,
    TextDelta,
    ToolOutput,
    ToolRun,
    ToolSpec,
)
from states.records import JSON, HookOutcome, HookResult, Judgement, Prestart, Status, ToolIntent

from .claims import unpaired
from .world import READ, WRITE

NOTE, SEND, SHELL = "note", "send", "bash"
TEST: Final = "pytest -q"
_OBJECT: Final[Mapping[str, JSON]] = {"type": "object"}
SPECS: Final = (
    ToolSpec(READ, "reads", _OBJECT, read_only=True, concurrency_safe=True),
    ToolSpec(WRITE, "has an effect", _OBJECT),
    ToolSpec(NOTE, "has an effect that counts once for each key", _OBJECT, idempotent=True),
    ToolSpec(SEND, "has an effect that it can look up", _OBJECT, reconcilable=True),
    ToolSpec(SHELL, "runs a command", _OBJECT),
)
"""One tool of each kind that recovery tells apart."""


class StageClock:
    """Time that passes when somebody says so. Whoever sleeps wakes when the time has come."""

    def __init__(self) -> None:
        self.time = 1_000_000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        wakes = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.time + seconds, wakes))
        await wakes

    def advance(self, seconds: float) -> None:
        self.time += seconds
        due = [wakes for at, wakes in self._sleepers if at <= self.time]
        self._sleepers = [(at, wakes) for at, wakes in self._sleepers if at > self.time]
        for wakes in due:
            if not wakes.done():
                wakes.set_result(None)


class StageWorkspace:
    """A workspace that is nothing but its revision."""

    def __init__(self) -> None:
        self.number = 1
        self.looks = 0
        """How often anybody asked for it."""

    def change(self) -> None:
        self.number += 1

    async def revision(self) -> str:
        self.looks += 1
        return f"r{self.number}"


@attrs.define(eq=False)
class Ledger:
    """What happened outside, whoever believes it. `intent_of` finds the durable intent of a key."""

    intent_of: Callable[[str], ToolIntent | Prestart | None]
    answered: Callable[[str], bool]
    prestart: frozenset[str] = frozenset()
    """Tools that may start before their turn is committed."""
    starts: dict[str, int] = attrs.field(factory=dict)
    """How often a key was started."""
    effects: dict[str, int] = attrs.field(factory=dict)
    """How often a key had its effect."""
    running: Counter[str] = attrs.field(factory=Counter)
    """Keys under which something is under way, in whatever process."""
    problems: list[str] = attrs.field(factory=list)

    def start(self, run: ToolRun, spec: ToolSpec) -> None:
        """A tool starts: its intent must be durable, and a second start must be one that its declaration allows."""
        intent = self.intent_of(run.key)
        if intent is None or intent.name != run.name:
            self.problems.append(f"{run.name} starts under {run.key} before its intent is durable")
        if isinstance(intent, Prestart) and not (
            run.name in self.prestart and spec.read_only and spec.concurrency_safe
        ):
            self.problems.append(f"{run.name} starts under {run.key} before its turn is committed")
        if self.answered(run.key):
            self.problems.append(f"{run.name} starts under {run.key}, which has a durable answer")
        again = self.starts.get(run.key, 0) > 0
        self.starts[run.key] = self.starts.get(run.key, 0) + 1
        if again and not (spec.read_only or spec.idempotent or spec.reconcilable):
            self.problems.append(f"{run.name} starts twice under {run.key}, unasked")

    def happen(self, run: ToolRun, spec: ToolSpec) -> None:
        """The effect takes place. An idempotent tool sees by the key that it has happened before."""
        known = self.effects.get(run.key, 0)
        self.effects[run.key] = 1 if spec.idempotent else known + 1
        if known and not (spec.read_only or spec.idempotent):
            self.problems.append(f"the effect of {run.name} happens twice under {run.key}")


@attrs.define(eq=False)
class Waiting:
    """An actor waits for its cue."""

    run: ToolRun
    cue: "asyncio.Future[ToolOutput]"


@attrs.define(eq=False)
class Bench:
    """Tools of one process. When that is dead, they are too."""

    ledger: Ledger
    workspace: StageWorkspace
    specs: Sequence[ToolSpec] = SPECS
    waiting: list[Waiting] = attrs.field(factory=list)
    dead: bool = False

    def spec(self, name: str) -> ToolSpec | None:
        return next((spec for spec in self.specs if spec.name == name), None)

    def complaint(self, name: str, arguments: JSON) -> str | None:
        if self.spec(name) is None:
            return f"there is no tool {name!r}."
        return None if isinstance(arguments, dict) else "the arguments are no object."

    async def run(self, run: ToolRun) -> ToolOutput:
        if self.dead:
            self.ledger.problems.append(f"{run.name} starts in a process that lost the session")
        self.ledger.start(run, self._known(run))
        waiting = Waiting(run, asyncio.get_running_loop().create_future())
        self.waiting.append(waiting)
        self.ledger.running[run.key] += 1
        run.progress("started")
        try:
            return await waiting.cue
        finally:
            self.waiting.remove(waiting)
            self.ledger.running[run.key] -= 1

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        if self.ledger.effects.get(run.key):
            return ToolOutput(Status.OK, "it had happened")
        if self.ledger.running[run.key]:  # a former owner is still at it: nobody can say that it will not happen
            return ToolOutput(Status.UNKNOWN, "it is under way elsewhere")
        return None

    def finish(self, waiting: Waiting, status: Status, *, exit_status: int = 0, asks: str = "") -> None:
        """Let a tool end: with its effect, unless it failed. One that was stopped meanwhile has ended.

        `asks`: what it wants a person to answer.
        """
        if waiting.cue.done():
            return
        run = waiting.run
        if status is Status.OK:
            self.effect(waiting)
        found: dict[str, JSON] = {}
        if run.name == SHELL:
            found = {"command": str(run.arguments.get("command", "")), "exit_status": exit_status}
        waiting.cue.set_result(ToolOutput(status, f"{run.name}: {status}", found, asks=asks))

    def effect(self, waiting: Waiting) -> None:
        spec = self._known(waiting.run)
        self.ledger.happen(waiting.run, spec)
        if waiting.run.name in (WRITE, NOTE, SEND):
            self.workspace.change()

    def _known(self, run: ToolRun) -> ToolSpec:
        spec = self.spec(run.name)
        if spec is None:
            raise KeyError(run.name)
        return spec


@attrs.define(eq=False)
class Doubter:
    """A verifier that agrees, unless `moods` says otherwise; `begun` says whether a journal knows of its session."""

    ledger: Ledger
    begun: Callable[[str, str], bool]
    moods: list[Opinion] = attrs.field(factory=list)

    async def opinion(self, caller: History, session: str, prompt: str) -> Opinion:
        if not self.begun(caller.session, session):
            self.ledger.problems.append(f"the verifier of {session} looks before that is durable")
        await asyncio.sleep(0)
        return self.moods.pop() if self.moods else Opinion(Judgement.PASS, "it works")


@attrs.define(eq=False)
class Host:
    """A host whose stop hooks answer once what `refusals` says (a reason, or nothing), and are else not there.

    `candidate` is that of a session, as its journal has it.
    """

    ledger: Ledger
    candidate: Callable[[str], int]
    refusals: list[str] = attrs.field(factory=list)

    def watches(self, name: str) -> bool:
        return False

    async def before(self, session: str, call: str, name: str, arguments: dict[str, JSON]) -> tuple[HookResult, ...]:
        return ()

    async def after(self, run: ToolRun, output: ToolOutput) -> ToolOutput:
        return output

    async def stopping(self, history: History) -> tuple[HookResult, ...]:
        if self.candidate(history.session) != history.candidate:
            self.ledger.problems.append("a stop hook is asked about a candidate that is not durable")
        await asyncio.sleep(0)
        if not self.refusals:
            return ()
        said = self.refusals.pop()
        outcome = HookOutcome.DENIED if said else HookOutcome.PASSED
        return (HookResult("", "Stop", "staged", outcome, said, candidate=history.candidate),)


def _stands_in(durable: Sequence[Message], shown: Sequence[Message]) -> bool:
    """Whether a ledger is asked for over what is durable: the older part of it, or that part told as one text."""
    if len(shown) == 1 and isinstance(told := shown[0], UserMessage):
        words = re.sub(r"^\[user\] \[\d+ earlier messages are left out here\.\]$", "", told.text, flags=re.MULTILINE)
        return set(words.removesuffix(INSTRUCTION).splitlines()) <= {*transcript(durable).splitlines(), "---", ""}
    asked, said = ([message for message in some if not isinstance(message, UserMessage)] for some in (shown, durable))
    return any(said[place : place + len(asked)] == asked for place in range(len(said) + 1))


@attrs.define(eq=False)
class Prompter:
    """A model that waits for its cue. `durable` gives the messages that a session's journal holds."""

    ledger: Ledger
    durable: Callable[[str], Sequence[Message]]
    model: str = "staged"
    secrets: Sequence[str] = ()
    asked: "asyncio.Future[Reply | ProviderTrouble | CallReady] | None" = None
    announced: int = 0
    """Calls of the present answer that are complete."""
    requests: int = 0
    overtaken: bool = False
    """Another process has the session now: what that one writes, this one cannot know."""

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem]:
        self.requests += 1
        complaint = unpaired(request.messages)
        if complaint:
            self.ledger.problems.append(f"a request is not paired: {complaint}")
        durable = list(self.durable(request.session))
        shown = list(request.messages)
        if shown and isinstance(shown[-1], UserMessage) and shown[-1].text.endswith(INSTRUCTION):
            if not _stands_in(durable, shown):
                self.ledger.problems.append("a ledger is asked for over something that is not durable")
        elif shown != (durable[: len(shown)] if self.overtaken else durable):
            self.ledger.problems.append("a request holds something that is not durable, or leaves something out")
        self.announced = 0
        try:
            while isinstance(said := await self._cue(), CallReady):
                self.announced += 1
                yield said
        finally:
            self.asked = None
        if isinstance(said, ProviderTrouble):
            yield TextDelta("so far ")
            raise said
        if text := text_of(said.blocks):
            yield TextDelta(text)
        yield said

    async def _cue(self) -> Reply | ProviderTrouble | CallReady:
        self.asked = asyncio.get_running_loop().create_future()
        return await self.asked

    async def close(self) -> None:
        """Nothing is open."""
