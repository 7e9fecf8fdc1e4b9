"""bash: one command in the workspace. The gates read its exit status from the metadata, not from its words."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final

from fsm.tools.context import ToolContext, ToolError
from fsm.tools.decorate import Tool, tool
from fsm.tools.schema import Keywords
from states.ports import ToolOutput
from states.records import JSON, Status

from .capture import Capture
from .command import Command, Ended, Ending, Limits, run_command
from .repeatable import reconcile

QUIET: Final = 120
"""Seconds without output after which a command is stopped: our choice."""
LONGEST_QUIET: Final = 3600
TOTAL: Final = 4 * 3600.0
"""Seconds that one command may run, however much it prints: our choice, so that every run ends."""
OUTPUT: Final = 256 * 1024 * 1024
"""Characters that one command may print: our choice, far above what a build prints."""
GRACE: Final = 30.0
"""Seconds to wait for a stopped command: above SIGTERM's grace and all rounds of SIGKILL, which end by themselves."""
SECRETS: Final = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
_STARTUP: Final = ("BASH_ENV", "ENV")
"""Scripts that bash would run first: a command is itself and nothing else."""


def bash_tool(
    root: Path, state_dir: Path, *, hidden_env: Iterable[str] = (), total: float = TOTAL, output: int = OUTPUT
) -> Tool:
    """`hidden_env` are names of variables that commands do not get, besides the known API keys."""
    hidden = {*SECRETS, *_STARTUP, *hidden_env}

    @tool(reconcile=reconcile, grace=GRACE)
    def bash(
        command: Annotated[str, "what to run, as for bash -c"],
        context: ToolContext,
        timeout_s: Annotated[
            float,
            "seconds without any output after which it is stopped",
            Keywords(exclusiveMinimum=0, maximum=LONGEST_QUIET),
        ] = QUIET,
    ) -> ToolOutput:
        """Run a shell command in the workspace: no terminal, no stdin, and nothing that it starts outlives it."""
        if "\0" in command:
            raise ToolError("a command cannot contain a NUL character. Not started.")
        capture = Capture(context.progress, state_dir / "output", context.key)
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        limits = Limits(timeout_s, total, output)
        try:
            ended = run_command(Command(command, root, environment), limits, capture, lambda: context.cancelled)
        finally:
            text = capture.close()
        return outcome(command, text, ended, limits, capture.kept)

    return bash


def outcome(command: str, text: str, ended: Ended, limits: Limits, kept: Path | None) -> ToolOutput:
    """What the model reads and the gates see. Only a command that ended by itself has an exit status."""
    metadata: dict[str, JSON] = {"command": command}
    notes = []
    if kept is not None:
        metadata |= {"truncated": True, "full_output": str(kept)}
    if ended.ending is Ending.EXITED:
        metadata["exit_status"] = ended.status
        if ended.left:
            notes.append(f"[{ended.left} processes that were left running in the background were stopped]")
    if ended.ending in (Ending.QUIET, Ending.LATE):
        metadata["timed_out"] = True
    if not ended.gone:
        notes.append("[some of its processes could not be stopped and may still be running]")
    notes.append(f"[{_last_words(ended, limits)}]")
    body = text if not text or text.endswith("\n") else f"{text}\n"
    return ToolOutput(_status(ended), body + "\n".join(notes), metadata)


def _status(ended: Ended) -> Status:
    if ended.ending is Ending.CANCELLED:
        return Status.CANCELLED
    return Status.OK if ended.status == 0 else Status.ERROR


def _last_words(ended: Ended, limits: Limits) -> str:
    words: Mapping[Ending, str] = {
        Ending.EXITED: f"exit status {ended.status}",
        Ending.QUIET: f"stopped: no output for {limits.quiet:g} s; what it did until then remains",
        Ending.LATE: f"stopped after {limits.total:g} s; what it did until then remains",
        Ending.FLOOD: f"stopped: more than {limits.output:,} characters of output; what it did until then remains",
        Ending.CANCELLED: "cancelled: stopped after it had started; what it did until then remains",
    }
    return words[ended.ending]
