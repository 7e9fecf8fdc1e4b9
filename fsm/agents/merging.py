"""The tools with which a caller decides about the changes of agents that worked apart: task_apply, task_discard."""

from typing import Annotated

from fsm.tools import Tool, ToolContext, ToolError, tool
from fsm.workspace.repository import GitFailed
from fsm.workspace.worktrees import Settled, Worktree, WorktreeError
from states.ports import Caller, ToolOutput, ToolRun
from states.records import JSON, Status

from .crew import Crew

NAMES = ("task_apply", "task_discard")


def merging_tools(crew: Crew) -> list[Tool]:
    def applied(run: ToolRun) -> ToolOutput | None:
        """Told from the files: they have the changes, or could still take them."""
        handle = str(run.arguments["handle"])
        worktree = _of(crew, run.caller, handle)
        if worktree.settled == (Settled.APPLIED, run.key) or worktree.fits(reverse=True):
            return _done(crew, worktree, handle, run.key)
        if worktree.settled is not None or worktree.fits(reverse=False):
            return None
        said = "Unknown: the process was lost while the changes were being made, and only some may have been. Look at "
        return ToolOutput(Status.UNKNOWN, f"{said}{', '.join(worktree.hand_over())} before you go on.")

    @tool(name=NAMES[0], reconcile=applied)
    def task_apply(context: ToolContext, handle: Annotated[str, "as the agent's result says"]) -> ToolOutput:
        """Make the changes of an agent that worked apart in your workspace: all of them, or none if one conflicts."""
        worktree = _of(crew, context.caller, handle)
        try:
            _open_to(worktree, context.key)
            if not worktree.hand_over():
                raise ToolError("this agent changed no files; there is nothing to apply.")
            worktree.apply()
        except (WorktreeError, GitFailed) as error:
            raise ToolError(f"not applied: {error} The agent's diff is kept in {worktree.patch}.") from error
        return _done(crew, worktree, handle, context.key)

    def discarded(run: ToolRun) -> ToolOutput | None:
        return None  # to drop it twice is to drop it once

    @tool(name=NAMES[1], reconcile=discarded)
    def task_discard(context: ToolContext, handle: Annotated[str, "as the agent's result says"]) -> ToolOutput:
        """Drop the changes of an agent that worked apart. They are gone then."""
        worktree = _of(crew, context.caller, handle)
        _open_to(worktree, context.key)
        if not worktree.home.is_dir():
            raise ToolError("there is nothing of this agent any more.")
        worktree.settle(Settled.DISCARDED, context.key)
        worktree.clear()
        worktree.patch.unlink(missing_ok=True)
        return ToolOutput(Status.OK, "Dropped. Your workspace is as it was.", {"discarded": handle})

    return [task_apply, task_discard]


def _of(crew: Crew, caller: Caller | None, handle: str) -> Worktree:
    """The worktree of an agent that has ended. Raises ToolError."""
    if caller is None:
        raise ToolError("agents can be called from a run only.")
    worktree = crew.apart.trees.of(handle)
    about = worktree.about
    if about is None or not (about.parent == caller.history.session or handle in caller.history.children):
        raise ToolError(f"no agent of this session works apart under the handle {handle!r}.")
    if not worktree.handed_over:
        raise ToolError(f"the agent {handle!r} has not ended; ask for its result with task_output first.")
    return worktree


def _open_to(worktree: Worktree, key: str) -> None:
    """Raises ToolError if another call has decided."""
    settled = worktree.settled
    if settled is not None and settled[1] != key:
        raise ToolError(f"the changes of this agent were {settled[0]} already.")


def _done(crew: Crew, worktree: Worktree, handle: str, key: str) -> ToolOutput:
    """Put down that the changes were made; the tree is not needed any more."""
    worktree.settle(Settled.APPLIED, key)
    names = worktree.hand_over()
    worktree.clear()
    prefix = worktree.about.prefix if worktree.about else ""
    changed: list[JSON] = [name.removeprefix(prefix) for name in names]
    text = f"Applied. Changed in your workspace: {', '.join(names)}."
    return ToolOutput(Status.OK, text, {"applied": handle, "changed": changed})
