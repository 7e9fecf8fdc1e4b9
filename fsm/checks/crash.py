"""Kills a run before and after every commit, resumes it in a fresh process, and looks at what is left.

Each run is a process of its own, forked from the calling one, with a real store on a real disk; its tools write what
they did into a file that no crash takes back. The caller must have no threads: a fork copies only one.
"""

import asyncio
import json
import os
import signal
import threading
import traceback
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

import attrs

from fsm.audit import audit
from fsm.journal import open_journal
from fsm.loop import Loop
from fsm.result import Result
from states.contract import Contract
from states.errors import ConfigError
from states.history import History
from states.messages import AssistantMessage, Call, Finish, Text
from states.ports import Claim, Draft, Journal, Reply, Request, TextDelta, ToolOutput, ToolRun, ToolSpec
from states.records import JSON, Finalized, Status, ToolIntent, ToolResult

from .broken import Broken
from .claims import STANDARD, gates_were_asked, passes_of
from .claims import Claim as Held
from .deeds import MakeLoop
from .stage import NOTE, SEND, SPECS, StageWorkspace
from .track import Track
from .world import READ, WRITE

TURNS: Final = 10
"""Turns with a call each, before the model says that it is done."""
ORDER: Final = (WRITE, READ, NOTE, SEND)
"""Tools that the turns ask for, one after the other: each kind that recovery tells apart."""
SESSION: Final = "swept"
PATIENCE: Final = 60
"""Seconds after which a process that should have ended is taken to hang."""


class Plan:
    """A model that says what is next: a call a turn, then the end. It counts its own words in the request."""

    model = "planned"
    secrets: Sequence[str] = ()

    def __init__(self, turns: int = TURNS) -> None:
        self.turns = turns

    async def stream(self, request: Request) -> AsyncGenerator[TextDelta | Reply]:
        turn = sum(isinstance(message, AssistantMessage) for message in request.messages)
        if turn < self.turns:
            yield Reply((Call("", ORDER[turn % len(ORDER)], f'{{"turn":{turn}}}'),), Finish.CALLS, model=self.model)
        else:
            yield Reply((Text("all done"),), Finish.STOP, model=self.model)

    async def close(self) -> None:
        """Nothing is open."""


@attrs.frozen
class Doings:
    """Tools that write a line into `file` when their effect takes place; the one that can looks there first."""

    file: Path
    specs: Sequence[ToolSpec] = SPECS

    def spec(self, name: str) -> ToolSpec | None:
        return next((spec for spec in self.specs if spec.name == name), None)

    def complaint(self, name: str, arguments: JSON) -> str | None:
        return None if self.spec(name) else f"there is no tool {name!r}."

    async def run(self, run: ToolRun) -> ToolOutput:
        with self.file.open("a") as file:
            file.write(f"{run.key} {run.name}\n")
        return ToolOutput(Status.OK, f"{run.name} is done")

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        return ToolOutput(Status.OK, "it had happened") if f"{run.key} {run.name}" in self.lines() else None

    def lines(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []


@attrs.define(eq=False)
class Deadly:
    """A journal whose process dies before or after its `at`-th commit. 0: it lives."""

    inner: Journal
    at: int = 0
    after: bool = False
    commits: int = 0

    async def append(self, claim: Claim, drafts: Sequence[Draft]) -> None:
        self.commits += 1
        if self.commits == self.at and not self.after:
            os.kill(os.getpid(), signal.SIGKILL)
        await self.inner.append(claim, drafts)
        if self.commits == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


@attrs.frozen
class Swept:
    """`points`: how often the run was killed. `unknown`: calls whose outcome nobody could know, over all of them."""

    commits: int
    points: int
    unknown: int

    def __str__(self) -> str:
        return (
            f"killed at {self.points} points of {self.commits} commits, resumed each time; {self.unknown} calls unknown"
        )


def sweep(make_loop: MakeLoop, folder: Path, *, claims: tuple[Held, ...] = (), task: str = "the task") -> Swept:
    """Kill and resume at every commit. Raises Broken, naming the point.

    make_loop: takes provider, tools and journal by name (any of which it may replace by its own). folder: an empty
    one; each point gets a folder in it. claims: further ones.
    """
    _alone()
    for heavy in ("fsm.journal.sqlite", "fsm.providers.openai_chat", "fsm.tools"):
        import_module(heavy)  # once here instead of once in each process
    (folder / "whole").mkdir(parents=True)
    whole = _in_process(partial(_finished, make_loop, folder / "whole", claims, task, resume=False), "the whole run")
    unknown = points = 0
    for at in range(1, whole["commits"] + 1):
        for after in (False, True):
            where = f"killed {'after' if after else 'before'} commit {at} of {whole['commits']}"
            home = folder / f"{at}-{'after' if after else 'before'}"
            _killed(make_loop, home, task, at, after=after, where=where)
            left = _in_process(partial(_finished, make_loop, home, claims, task, resume=True), where)
            unknown += left["unknown"]
            points += 1
    return Swept(whole["commits"], points, unknown)


def _alone() -> None:
    others = [thread.name for thread in threading.enumerate() if thread is not threading.current_thread()]
    if others:
        raise ConfigError(
            f"a sweep forks, but threads are running ({', '.join(others)}); call it from a process without"
        )


# --- in the parent ----------------------------------------------------------------------------------------------


def _killed(make_loop: MakeLoop, home: Path, task: str, at: int, *, after: bool, where: str) -> None:
    home.mkdir(parents=True)
    pid = os.fork()
    if pid == 0:
        _leave(lambda: asyncio.run(_run(make_loop, home, task, at, after=after)))
    status = _wait(pid, where)
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
        raise Broken("crash", f"the run ended before it could be {where}")


def _in_process(work: Callable[[], dict[str, int]], where: str) -> dict[str, int]:
    """What `work` says, in a process of its own."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)

        def tell() -> None:
            try:
                said = json.dumps(work())
            except Broken as error:
                said = json.dumps({"claim": error.claim, "why": error.why})
            os.write(writer, said.encode())

        _leave(tell)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    status = _wait(pid, where)
    if status or not said:
        raise Broken("crash", f"{where}: the process that went on ended with status {status}")
    found: dict[str, int] = json.loads(said)
    if "claim" in found:
        raise Broken(str(found["claim"]), f"{where}: {found['why']}")
    return found


def _wait(pid: int, where: str) -> int:
    previous = signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.alarm(PATIENCE)
    try:
        return os.waitpid(pid, 0)[1]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def _leave(work: Callable[[], object]) -> None:
    """Do it and end the process, without anything that the parent has registered for its own end."""
    status = 1
    try:
        work()
        status = 0
    except BaseException:  # noqa: BLE001  the parent sees the status; the words go to standard error
        traceback.print_exc()
    finally:
        os._exit(status)


# --- in the child -----------------------------------------------------------------------------------------------


def _made(make_loop: MakeLoop, tools: "Doings", journal: "Deadly") -> Loop:
    """One that owes nothing: the scripted model has no evidence to give, and what is owed is no matter of crashes."""
    return make_loop(provider=Plan(), tools=tools, journal=journal, workspace=StageWorkspace(), contract=Contract())


async def _run(make_loop: MakeLoop, home: Path, task: str, at: int, *, after: bool) -> None:
    journal = Deadly(open_journal(home / "journal.db"), at, after)
    loop = _made(make_loop, Doings(home / "effects"), journal)
    await loop.run(task, session=SESSION)


def _finished(make_loop: MakeLoop, home: Path, claims: tuple[Held, ...], task: str, *, resume: bool) -> dict[str, int]:
    return asyncio.run(_go_on(make_loop, home, claims, task, resume=resume))


async def _go_on(
    make_loop: MakeLoop, home: Path, claims: tuple[Held, ...], task: str, *, resume: bool
) -> dict[str, int]:
    """Resume (or, if nothing of the run is durable, begin), and look at what is left."""
    journal = Deadly(open_journal(home / "journal.db"))
    doings = Doings(home / "effects")
    loop = _made(make_loop, doings, journal)
    try:
        known = {info.session: info.entries for info in await journal.inner.sessions()}
        if resume and known.get(SESSION):
            result = await loop.resume(SESSION)
        elif resume and SESSION in known:
            result = await loop.resume(SESSION, task)
        else:
            result = await loop.run(task, session=SESSION)
        track = Track(loop.graph, (*STANDARD, gates_were_asked(passes_of(loop.graph)), *claims), History(SESSION))
        for entry in await journal.inner.read(SESSION):
            track.take(entry)
    finally:
        await loop.close()
    _justified(result, track, doings.lines())
    lost = [e.record for e in track.entries if isinstance(e.record, ToolResult) and e.record.status is Status.UNKNOWN]
    return {"commits": journal.commits, "unknown": len(lost)}


def _justified(result: Result, track: Track, lines: Sequence[str]) -> None:
    if not result.succeeded:
        raise Broken("crash", f"the resumed run is {result.status} ({result.reason}: {result.message})")
    if not any(isinstance(entry.record, Finalized) and entry.record == result.receipt for entry in track.entries):
        raise Broken("crash", "success without a durable receipt")
    if track.problems:
        raise Broken("crash", track.problems[0])
    if findings := audit(track.graph, track.entries, SESSION):
        raise Broken("crash", f"the audit says: {findings[0]}")
    intents = {f"{SESSION}:{e.seq}": e.record for e in track.entries if isinstance(e.record, ToolIntent)}
    answers = {e.record.call: e.record for e in track.entries if isinstance(e.record, ToolResult)}
    for line, times in Counter(lines).items():
        key, _, name = line.partition(" ")
        if key not in intents or intents[key].name != name:
            raise Broken("crash", f"{name} had an effect under {key}, which no durable intent names")
        if times > 1 and name not in (READ, NOTE):
            raise Broken("crash", f"the effect of {name} happened {times} times under {key}, unasked")
    for key, intent in intents.items():
        answer = answers.get(intent.call)
        if answer is None:
            raise Broken("crash", f"{intent.call} was started and never answered")
        if answer.status is Status.OK and f"{key} {intent.name}" not in lines:
            raise Broken("crash", f"{intent.call} is said to be done, but {intent.name} had no effect")
