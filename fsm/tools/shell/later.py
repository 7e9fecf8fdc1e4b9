"""bash_output and bash_stop: what becomes of a command in the background."""

from typing import Annotated, Final

from fsm.tools.context import ToolContext
from fsm.tools.decorate import Tool, tool
from fsm.tools.schema import Keywords
from states.ports import ToolOutput
from states.records import JSON, Status

from .background import STOP_SECONDS, Background, Running, wait_for
from .words import last_words

LONGEST_WAIT: Final = 600
"""Seconds that one call waits at most: our choice; the model can ask again."""

Handle = Annotated[str, "as bash gave it, such as bg_7"]


def later_tools(background: Background) -> list[Tool]:
    """The tools for commands that `bash` started with background true."""

    @tool(read_only=True)
    def bash_output(
        handle: Handle,
        context: ToolContext,
        wait_s: Annotated[
            float,
            "seconds to wait for it to end, or for the text that is waited for",
            Keywords(minimum=0, maximum=LONGEST_WAIT),
        ] = 0,
        until: Annotated[str, "wait only until this text has been printed, such as 'listening on'"] = "",
    ) -> ToolOutput:
        """Read what a background command has printed since the last time, and whether it has ended."""
        running = background.find(handle, context)
        wait_for(running, wait_s, lambda: bool(until) and until in running.log.said(), context)
        return told(running)

    @tool(idempotent=True, grace=STOP_SECONDS)
    def bash_stop(handle: Handle, context: ToolContext) -> ToolOutput:
        """Stop a background command with everything that it started, and read the rest of what it printed."""
        running = background.find(handle, context)
        running.stopping.set()
        wait_for(running, STOP_SECONDS, lambda: False, ToolContext(context.key))
        return told(running)

    return [bash_output, bash_stop]


def told(running: Running) -> ToolOutput:
    """News, and the state of things. `progress` in the metadata grows with every character printed.

    There is no `command` in the metadata: what ran in the background proves nothing.
    """
    ended = running.done.is_set()
    text = running.log.shown()
    metadata: dict[str, JSON] = {"background": running.handle, "running": not ended, "progress": running.log.total}
    if running.ended is not None and running.ended.status is not None:
        metadata["exit_status"] = running.ended.status
    body = text if not text or text.endswith("\n") else f"{text}\n"
    return ToolOutput(Status.OK, f"{body}[{running.handle}: {_state(running)}]", metadata)


def _state(running: Running) -> str:
    if not running.done.is_set():
        return "running; bash_output reads what it prints, bash_stop ends it"
    if running.ended is None:
        return f"ended: could not be started: {running.fault}"
    gone = "" if running.ended.gone else "; some of its processes could not be stopped and may still be running"
    return f"ended: {last_words(running.ended, running.limits)}{gone}"
