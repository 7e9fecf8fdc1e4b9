"""Runs the agents of a loop: each call is a session of its own, begun once and taken up again after a crash."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import attrs

from fsm import events
from fsm.result import Result, RunStatus, result_of
from fsm.tools import ToolError
from states.contract import Isolation
from states.errors import InterlockError
from states.history import History
from states.names import ENDS, RESTING
from states.ports import Caller, Journal, ToolOutput
from states.records import Delegated, DelegationEnded

from .adopt import Claimed, Publish, Runs, go_on, past_of
from .agent import Agent, Lineage, session_of
from .apart import Apart
from .report import WAITS_FOR_A_PERSON, stopped, told

MakeLoop = Callable[[Agent, Lineage, History], Runs]
"""A loop for an agent, as its caller's history allows."""


@attrs.define(eq=False)
class Job:
    """An agent at work in the background of the run `caller`."""

    caller: str
    task: "asyncio.Task[Result]"
    turns: int = 0


@attrs.define(eq=False)
class Crew:
    """The agents that a loop may call. `limit` is how many calls of agents may stand above one."""

    agents: dict[str, Agent]
    make: MakeLoop
    journal: Callable[[], Journal]
    """The loop's journal, as it is now."""
    apart: Apart
    """The worktrees of those that work apart."""
    limit: int = 1
    _jobs: dict[str, Job] = attrs.field(factory=dict)

    async def begin(self, caller: Caller, key: str, agent: str, prompt: str, *, background: bool) -> str:
        """Put it on record that the call with this key begins an agent; its session is returned. Repeating it is safe.

        Raises ToolError for an agent that is too deep.
        """
        session = session_of(key)
        if _depth(caller.history) >= self.limit:
            raise ToolError(f"an agent at depth {self.limit} calls no agents; do this yourself.")
        if session not in caller.history.children:
            intent = int(key.rpartition(":")[2])
            isolation = self.agents[agent].isolation
            await caller.commit(Delegated(intent, session, agent, prompt, background, isolation))
        return session

    async def work(self, caller: Caller, session: str, publish: Publish) -> Result:
        """Have the agent of `session` work until it ends or rests, from wherever it stands.

        Cancelled, it comes to rest first.
        """
        child = caller.history.children[session]
        agent = self.agents.get(child.agent)
        if agent is None:
            raise ToolError(f"there is no agent {child.agent!r} any more; there are: {', '.join(self.agents)}")
        key = _key(session, child.intent)
        folder = None
        if child.isolation is Isolation.WORKTREE:
            past = await past_of(self.journal(), session)
            if past is None or past.state not in ENDS:
                folder = await self.apart.workspace(session, caller.history.session, self._path, begun=past is not None)
        lineage = Lineage(key, child.agent, _depth(caller.history) + 1, workspace=folder)
        loop = self.make(agent, lineage, caller.history)
        return await go_on(loop, Claimed(session, lineage.parent, child.prompt, caller.history.permission), publish)

    async def called(self, caller: Caller, session: str, publish: Publish) -> ToolOutput:
        """The same for a call that waits for it; what came of it is on record."""
        agent = caller.history.children[session].agent
        try:
            result = await self.work(caller, session, publish)
        except asyncio.CancelledError:
            await self.look(caller, session)
            return stopped(agent, session)
        await self.look(caller, session)
        return await self.report(caller, session, result)

    async def report(self, caller: Caller, session: str, result: Result) -> ToolOutput:
        """What the caller is told; of one that has ended apart, with its changes."""
        child = caller.history.children[session]
        output = told(child.agent, result)
        if child.isolation is not Isolation.WORKTREE or result.status is RunStatus.SUSPENDED:
            return output
        return await self.apart.handed_over(output, session)

    @property
    def _path(self) -> str:
        return str(getattr(self.journal(), "path", ""))

    async def look(self, caller: Caller, session: str) -> History | None:
        """What is durable of an agent; if it has ended or rests, that is put on record. None if it never began."""
        past = await past_of(self.journal(), session)
        if past is None:
            return None
        if past.state in RESTING and past.closing_event is None:
            await self._settle(caller, session, past)
        return past

    async def _settle(self, caller: Caller, session: str, past: History) -> None:
        """Put on record what is known of an agent, if that is news."""
        child, result = caller.history.children[session], result_of(past)
        if (child.state, child.reason, child.usage) != (past.state, result.reason, past.usage):
            alone = child.isolation is Isolation.WORKTREE  # what it changed there is not changed here
            did = () if alone else tuple(past.changed), tuple(past.shell)
            ended = DelegationEnded(session, past.state, result.reason, past.usage, result.cost, *did)
            await caller.commit(ended)

    # --- in the background --------------------------------------------------------------------------------------

    def start(self, caller: Caller, session: str) -> None:
        """Begin or take up an agent that its caller does not wait for."""

        def heard(event: events.Event) -> None:
            if isinstance(event, events.TurnStart):
                job.turns = event.turn

        job = Job(caller.history.session, asyncio.create_task(self.work(caller, session, heard)))
        job.task.add_done_callback(lambda task: task.cancelled() or task.exception())  # whoever asks for it hears of it
        self._jobs[session] = job

    def job(self, session: str) -> Job | None:
        return self._jobs.get(session)

    async def sweep(self, caller: Caller) -> None:
        """Worktrees that nobody needs any more go. One that cannot be removed is left for the next time."""
        if not await asyncio.to_thread(lambda: self.apart.trees.any):
            return
        known = [info.session for info in await self.journal().sessions()]
        with suppress(InterlockError, OSError):
            await asyncio.to_thread(self.apart.trees.sweep, self._path, known, caller.history.session)

    def take_up(self, caller: Caller) -> None:
        """Agents in the background of a run that goes on go on too."""
        for session, child in caller.history.children.items():
            over = child.state in ENDS or (child.state is not None and child.reason in WAITS_FOR_A_PERSON)
            if child.background and not over and session not in self._jobs:
                self.start(caller, session)

    async def stop(self, caller: Caller, *, lost: bool) -> None:
        """The run `caller` ended or rests, and so do its agents. `lost`: its journal takes nothing any more."""
        ours = {session: job for session, job in self._jobs.items() if job.caller == caller.history.session}
        for job in ours.values():
            job.task.cancel()
        await asyncio.gather(*(job.task for job in ours.values()), return_exceptions=True)
        for session in ours:
            del self._jobs[session]
            if not lost:
                with suppress(InterlockError):  # what is not on record is found out when the run goes on
                    await self.look(caller, session)


def _key(session: str, intent: int) -> str:
    return f"{session.removesuffix(f'.{intent}')}:{intent}"


def _depth(history: History) -> int:
    return history.started.depth if history.started else 0
