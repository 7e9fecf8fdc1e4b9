"""The tools with which a model has agents work: task, and task_output for those in the background."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Final

from fsm import events
from fsm.result import result_of
from fsm.tools import Keywords, Tool, ToolContext, ToolError, tool
from states.contract import Isolation
from states.names import RESTING
from states.ports import Caller, ToolOutput, ToolRun

from .adopt import Publish
from .agent import session_of
from .crew import Crew
from .merging import merging_tools
from .report import begun, working

Show = Callable[[str], None]
NAMES: Final = ("task", "task_output")
LONGEST_WAIT: Final = 600
"""Seconds that one task_output may wait (our choice: the longest that bash may run is of the same order)."""


def task_tools(crew: Crew) -> list[Tool]:
    """`task` and `task_output` for a loop's crew; `task_apply` and `task_discard` if one of it works apart."""
    names = list(crew.agents)

    async def reconcile(run: ToolRun) -> ToolOutput | None:
        """A lost call's agent is taken up where it stands; None if it never began."""
        caller, session = _caller(run.caller), session_of(run.key)
        child = caller.history.children.get(session)
        return None if child is None else await _go_on(caller, session, run.progress)

    async def _go_on(caller: Caller, session: str, show: Show) -> ToolOutput:
        child = caller.history.children[session]
        if not child.background:
            return await crew.called(caller, session, _progress(child.agent, show))
        if crew.job(session) is None:
            crew.start(caller, session)
        return begun(child.agent, session)

    @tool(name=NAMES[0], description=_description(crew), concurrency_safe=True, delegates=True, reconcile=reconcile)
    async def task(
        context: ToolContext,
        agent: Annotated[str, "which agent", Keywords(enum=[*names])],
        prompt: Annotated[str, "the whole task: the agent knows nothing of this conversation"],
        *,
        background: Annotated[bool, "go on without waiting; task_output has the result later"] = False,
    ) -> ToolOutput:
        caller = _caller(context.caller)
        session = await crew.begin(caller, context.key, agent, prompt, background=background)
        return await _go_on(caller, session, context.progress)

    @tool(name=NAMES[1], read_only=True, concurrency_safe=True)
    async def task_output(
        context: ToolContext,
        handle: Annotated[str, "as task gave it"],
        wait_s: Annotated[float, "seconds to wait for its end", Keywords(minimum=0, maximum=LONGEST_WAIT)] = 0,
    ) -> ToolOutput:
        """Give the result of an agent that works in the background, or say that it is still at work."""
        caller = _caller(context.caller)
        child = caller.history.children.get(handle)
        if child is None:
            known = ", ".join(caller.history.children) or "none"
            raise ToolError(f"this run began no agent with the handle {handle!r}; there are: {known}")
        job = crew.job(handle)
        if job is not None:
            await asyncio.wait([job.task], timeout=wait_s)
            if not job.task.done():
                return working(child.agent, handle, job.turns)
            result = job.task.result()
            await crew.look(caller, handle)
            return await crew.report(caller, handle, result)
        past = await crew.look(caller, handle)
        if past is None or past.state not in RESTING:
            return working(child.agent, handle, past.turns if past else 0)
        return await crew.report(caller, handle, result_of(past))

    isolated = any(agent.isolation is Isolation.WORKTREE for agent in crew.agents.values())
    return [task, task_output, *(merging_tools(crew) if isolated else ())]


def _description(crew: Crew) -> str:
    """What the model reads: who is there, and what each is for."""
    who = "; ".join(f"{agent.name}: {agent.description}" for agent in crew.agents.values())
    return (
        "Have another agent do a task on its own, and get its final message. Several calls of one turn work side by "
        f"side. The agents are: {who}"
    )


def _caller(caller: Caller | None) -> Caller:
    if caller is None:
        raise ToolError("agents can be called from a run only.")
    return caller


def _progress(agent: str, show: Show) -> Publish:
    def heard(event: events.Event) -> None:
        if isinstance(event, events.ToolStart):
            show(f"{agent}: {event.name} {event.arguments}")
        elif isinstance(event, events.TurnStart):
            show(f"{agent}: turn {event.turn}")

    return heard
