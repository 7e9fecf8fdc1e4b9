"""Plays the demonstration: unpack, run (and perhaps be killed), audit, and say what to look at next."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import fsm
from fsm import demo, receipt
from fsm.audit import audit
from fsm.config import Settings
from fsm.demo.repository import unpack
from fsm.graph import GRAPH
from fsm.loop import Loop
from fsm.providers import Replay
from fsm.result import Result
from fsm.summary import summary
from states.contract import Permission
from states.errors import ConfigError
from states.records import Entry, Finalized

from .assemble import assemble, new_run
from .execute import execute
from .hints import command
from .past import entries_of
from .progress import Progress
from .remember import remember
from .stage import Publish, Stage
from .status import Status
from .terminal import out, say

SESSION: Final = "demo"
PACING: Final = 0.03
"""Seconds before each recorded piece of an answer, so that a person can follow."""


def show_demo(into: str | None, *, crash: bool) -> Status:
    """The exit status of the run; FAILED as well if the audit objects. Raises ConfigError."""
    root = _prepare(into)
    say("The model's turns in this demonstration are recorded and played back: no key, no network.")
    say(f"Everything else is real: the repository in {root}, its tests, the tools, the journal, the gates.")
    say(f'The task: "{demo.TASK}" The run owes a passing test, whatever the model says.\n')
    if crash:
        _be_killed(root)
    status = play(root, resume=crash)
    entries = asyncio.run(entries_of(settings_of(root).journal, SESSION))
    found = audit(GRAPH, entries, SESSION)
    _report(root, entries, found)
    return Status.FAILED if found else status


def settings_of(root: Path) -> Settings:
    """What `interlock run --provider replay --require test --permission full` would go by in this folder."""
    return Settings(
        workspace=root,
        journal=str(root / ".interlock" / "journal.db"),
        provider="replay",
        cassette=demo.CASSETTE,
        permission=Permission.FULL,
        require=("test",),
    )


def _lines() -> Progress:
    return Progress(lines=True)


def play(root: Path, *, resume: bool = False, progress: Callable[[], Progress] = _lines) -> Status:
    """Run the recorded task in the repository, or go on with it."""
    settings = settings_of(root)
    plan = new_run(settings)

    def loop() -> Loop:
        return assemble(settings, plan, Replay(demo.CASSETTE, pacing=PACING))

    async def job(loop: Loop, publish: Publish) -> Result:
        if resume:
            return await loop.resume(SESSION, on_event=publish)
        return await loop.run(demo.TASK, session=SESSION, on_event=publish)

    return execute(
        settings, loop, job, lambda: Stage(SESSION, begun=lambda: remember(settings, SESSION), progress=progress())
    )


def _prepare(into: str | None) -> Path:
    """The unpacked repository, under git where there is git. `python3` is the interpreter that runs this."""
    root = Path(into) if into else Path(tempfile.mkdtemp(prefix="interlock-demo-"))
    try:
        if into and root.exists() and any(root.iterdir()):
            raise ConfigError(f"--into: {into!r} is not empty; give a new or an empty folder")
        unpack(root)
    except OSError as error:
        raise ConfigError(f"--into: {str(root)!r} cannot be written: {error}") from error
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return root.resolve()


def _be_killed(root: Path) -> None:
    """Another process begins the run, and dies by SIGKILL in the middle of an answer."""
    home = str(Path(fsm.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    words = [sys.executable, "-m", "fsm.cli.die_midway", str(root)]
    killed = subprocess.run(words, check=False, env=os.environ | {"PYTHONPATH": path})  # noqa: S603  ourselves
    say(f"\nThat process is gone: signal {-killed.returncode}, SIGKILL, in the middle of an answer.", "bold")
    say("What was committed is in the journal, the half answer is not. Another process goes on:\n")


def _report(root: Path, entries: list[Entry], found: list[str]) -> None:
    settings = settings_of(root)
    final = next((entry.record for entry in reversed(entries) if isinstance(entry.record, Finalized)), None)
    if final is not None:
        out("\nThe receipt, which names what this rests on (numbers are the journal's):")
        for line in receipt.words(entries, final):
            out(f"  - {line}")
    out(f"\nThe audit derived all of it again from the journal: {summary(entries)}.")
    for complaint in found or ["nothing to object to."]:
        out(f"  {complaint}")
    out("\nLook at it yourself (the model was a recording, the rest is there):")
    for words in (("show", SESSION), ("audit", SESSION), ("diagram", "--session", SESSION, "--format", "svg")):
        out(f"  {command(settings, *words)}")
    out(f"  cd {root} && git diff")
