"""Commands that go on while the model does: started by a call, read and stopped by later ones.

They live as long as this process works on their session: when the run ends or rests they are stopped, and the guard of
`command` ends them should the process be killed. Nothing that they print is evidence: a check has to be run in the
foreground, where one call sees all of it and one workspace.
"""

import asyncio
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs

from fsm.tools.context import ToolContext, ToolError
from fsm.tools.limits import HALF
from fsm.tools.state_dir import file_name
from states.text import safe_text

from .command import Ended, Limits, run_command
from .log import Log
from .orphans import Register
from .started import Command

MOST: Final = 16
"""Commands of one session that may run in the background at once: our choice."""
POLL: Final = 0.05
"""Seconds between looks at a command that somebody waits for."""
STOP_SECONDS: Final = 30.0
"""Seconds to wait for stopped commands, as for one in the foreground."""
_HANDLE: Final = re.compile(r"bg_(\d{1,18})")


@attrs.define(eq=False)
class Running:
    """One command. `ended` is None while it runs; `fault` says why it could not be started."""

    handle: str
    command: str
    limits: Limits
    log: Log
    stopping: threading.Event = attrs.field(factory=threading.Event)
    done: threading.Event = attrs.field(factory=threading.Event)
    ended: Ended | None = None
    fault: str = ""
    key: str = ""

    def work(self, command: Command, register: Register) -> None:
        """In a thread of its own, to its end."""
        try:
            self.ended = run_command(command, self.limits, self.log, self.stopping.is_set, register.noting(self.key))
        except OSError as error:
            self.fault = f"{error.strerror or error}"
        finally:
            register.over(self.key)
            self.log.close()
            self.done.set()


class Background:
    """The background commands of every session of a toolbox. `state_dir` takes what they print."""

    def __init__(self, state_dir: Path) -> None:
        self._directory = state_dir / "background"
        self.register = Register(state_dir)
        self._sessions: dict[str, dict[str, Running]] = {}

    def start(self, command: Command, limits: Limits, context: ToolContext) -> Running:
        """Returns as soon as it is on its way. Raises ToolError if too many run already."""
        mine = self._sessions.setdefault(context.session, {})
        active = [running.handle for running in mine.values() if not running.done.is_set()]
        if len(active) >= MOST:
            raise ToolError(f"{MOST} commands run in the background already ({', '.join(active)}); stop one first")
        handle = f"bg_{context.key.rpartition(':')[2]}"
        running = Running(handle, command.text, limits, Log(self._directory, context.key), key=context.key)
        mine[handle] = running
        name = f"interlock-{handle}"
        threading.Thread(target=running.work, args=(command, self.register), name=name, daemon=True).start()
        return running

    def find(self, handle: str, context: ToolContext) -> Running:
        """Raises ToolError with what is true of a handle that is not at hand."""
        mine = self._sessions.get(context.session, {})
        running = mine.get(handle)
        if running is not None:
            return running
        lost = self._lost(handle, context.session)
        if lost is not None:
            raise ToolError(lost)
        raise ToolError(f"there is no background command {handle!r}; there are {', '.join(mine) or 'none'}")

    def _lost(self, handle: str, session: str) -> str | None:
        """What can be said of a command of an earlier process, or of before the run's last rest."""
        number = _HANDLE.fullmatch(handle)
        path = self._directory / f"{file_name(f'{session}:{number[1]}')}.txt" if number else None
        if path is None or not path.is_file():
            return None
        said = safe_text(path.read_bytes()[-HALF:])
        return (
            f"{handle} does not run any more: it was ended when the process that had started it was lost, or the run "
            f"came to rest. How it would have ended is not known. What it had printed is in {path}"
            + (f":\n{said}" if said else " (nothing)")
        )

    async def leave(self, session: str) -> None:
        """Stop what the session left running, also what a process that is gone did; on return it is gone."""
        left = [running for running in self._sessions.pop(session, {}).values() if not running.done.is_set()]
        for running in left:
            running.stopping.set()
        if left:
            await asyncio.to_thread(_join, left)
        await asyncio.to_thread(self.register.sweep, session)


def wait_for(running: Running, seconds: float, happened: Callable[[], bool], context: ToolContext) -> None:
    """Until the command has ended, `happened` holds, the seconds are over, or somebody stops the run."""
    end = time.monotonic() + seconds
    while not (running.done.is_set() or happened() or context.cancelled) and (left := end - time.monotonic()) > 0:
        context.wait_cancelled(min(POLL, left))


def _join(left: list[Running]) -> None:
    end = time.monotonic() + STOP_SECONDS
    for running in left:
        running.done.wait(max(0.0, end - time.monotonic()))
