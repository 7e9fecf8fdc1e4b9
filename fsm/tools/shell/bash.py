"""bash: one command in the workspace. The gates read its exit status from the metadata, not from its words."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final

import attrs

from fsm.tools.context import ToolContext, ToolError
from fsm.tools.decorate import Tool, tool
from fsm.tools.schema import Keywords
from fsm.tools.state_dir import file_name, make
from gates.shell.read_only import provably_read_only
from states.await_results import UNKNOWN
from states.ports import ToolOutput, ToolRun
from states.records import JSON, Status

from .background import Background
from .capture import Capture
from .command import Ended, Ending, Limits, run_command
from .foreign import looking, looks_safely
from .later import told
from .orphans import Register
from .repeatable import only_reads, reconcile
from .started import Command
from .words import last_words

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
SCRATCH: Final = "INTERLOCK_SCRATCH"
"""The variable that leads a command to its session's scratch directory."""
_STARTUP: Final = ("BASH_ENV", "ENV")
"""Scripts that bash would run first: a command is itself and nothing else."""


def bash_tool(
    root: Path,
    state_dir: Path,
    *,
    hidden_env: Iterable[str] = (),
    background: Background | None = None,
    total: float = TOTAL,
    output: int = OUTPUT,
) -> Tool:
    """`hidden_env` are names of variables that commands do not get, besides the known API keys.

    `background` takes the commands that go on; share it with `later_tools`, which read and stop them.
    """
    hidden = {*SECRETS, *_STARTUP, *hidden_env}
    ground = background or Background(state_dir)

    def lost(run: ToolRun) -> ToolOutput | None:
        return of_lost(run, ground.register)

    def reads(arguments: Mapping[str, JSON]) -> bool:
        return only_reads(arguments) and looks_safely(str(arguments.get("command", "")), root)

    @tool(read_only=reads, reconcile=lost, grace=GRACE)
    def bash(
        command: Annotated[str, "what to run, as for bash -c"],
        context: ToolContext,
        timeout_s: Annotated[
            Annotated[float, Keywords(exclusiveMinimum=0, maximum=LONGEST_QUIET)] | None,
            f"seconds without any output after which it is stopped; {QUIET} unless said, in the background none",
        ] = None,
        background: Annotated[
            bool, "return at once with a handle for bash_output and bash_stop; for servers and watchers, not for checks"
        ] = False,
    ) -> ToolOutput:
        """Run a shell command in the workspace: no terminal, no stdin, and nothing that it starts outlives it.

        $INTERLOCK_SCRATCH is a directory for temporary files.
        """
        if "\0" in command:
            raise ToolError("a command cannot contain a NUL character. Not started.")
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        environment |= {SCRATCH: str(scratch_of(state_dir, context.key.rpartition(":")[0]))}
        if not background and provably_read_only(command):
            environment = looking(environment)
        what = Command(command, root, environment)
        if background:
            return told(ground.start(what, Limits(timeout_s or total, total, output), context))
        limits = Limits(timeout_s or QUIET, total, output)
        capture = Capture(context.progress, state_dir / "output", context.key)
        try:
            ended = run_command(what, limits, capture, lambda: context.cancelled, ground.register.noting(context.key))
        finally:
            ground.register.over(context.key)
            text = capture.close()
        return outcome(command, text, ended, limits, capture.kept)

    return attrs.evolve(bash, leave=ground.leave)


def of_lost(run: ToolRun, register: Register) -> ToolOutput | None:
    """What is to be done about a lost start, once nothing of it runs any more."""
    known = register.about(run.key)
    if run.arguments.get("background"):
        return ToolOutput(Status.UNKNOWN, f"{UNKNOWN} If it was started, it ended with that process.{known}")
    found = reconcile(run)
    return found and attrs.evolve(found, text=f"{found.text}{known}")


def scratch_of(state_dir: Path, session: str) -> Path:
    """The session's own directory for what nobody needs to keep; it goes when the session is deleted."""
    scratch = state_dir / "scratch" / file_name(session)
    make(state_dir)
    scratch.mkdir(parents=True, exist_ok=True)
    return scratch


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
    notes.append(f"[{last_words(ended, limits)}]")
    body = text if not text or text.endswith("\n") else f"{text}\n"
    return ToolOutput(_status(ended), body + "\n".join(notes), metadata)


def _status(ended: Ended) -> Status:
    if ended.ending is Ending.CANCELLED:
        return Status.CANCELLED
    return Status.OK if ended.status == 0 else Status.ERROR
