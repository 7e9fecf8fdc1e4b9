"""What a caller is told of an agent's run."""

from typing import Final

from fsm.result import Result, RunStatus
from states.ports import ToolOutput
from states.records import JSON, Metadata, Status
from states.verdicts import WaitsFor

WAITS_FOR_A_PERSON: Final = frozenset({WaitsFor.APPROVAL, WaitsFor.ANSWER, WaitsFor.PLAN_REVIEW, WaitsFor.BUDGET})
"""Rests that nobody but a person can end: the caller is told, and the agent is left as it is."""


def told(agent: str, result: Result) -> ToolOutput:
    """An agent's result as the output of the call that began it. Only its own success is one of the call."""
    session = result.session_id
    metadata: Metadata = {**about(agent, session), "state": result.status.value, "reason": result.reason} | {
        "turns": result.turns,
        "tokens": result.usage.total,
    }
    if result.succeeded:
        return ToolOutput(Status.OK, result.text, metadata)
    if result.status is RunStatus.FAILED:
        text = f"Error: the agent {agent} failed ({result.reason}): {result.message}"
        return ToolOutput(Status.ERROR, text, metadata)
    text = (
        f"Error: the agent {agent} is not done. It rests and waits for {result.reason}: {result.message} "
        f"A person can let it go on (its session is {session}); after that, task_output gives its result."
    )
    return ToolOutput(Status.ERROR, text, metadata)


def stopped(agent: str, session: str) -> ToolOutput:
    text = f"Cancelled: the agent {agent} was stopped at its work; what it did so far has happened."
    return ToolOutput(Status.CANCELLED, text, about(agent, session))


def begun(agent: str, session: str) -> ToolOutput:
    text = (
        f"The agent {agent} works in the background. Its handle is {session!r}: ask for its result with task_output "
        "before you say that you are done; it is stopped when this run ends."
    )
    return ToolOutput(Status.OK, text, {**about(agent, session), "background": True})


def working(agent: str, session: str, turns: int) -> ToolOutput:
    text = f"The agent {agent} is still at work (turns so far: {turns}). Ask again, with a longer wait_s."
    return ToolOutput(Status.OK, text, {**about(agent, session), "state": "working", "progress": turns})


def about(agent: str, session: str) -> dict[str, JSON]:
    return {"agent": agent, "session": session}
