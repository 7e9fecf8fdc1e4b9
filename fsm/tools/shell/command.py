"""One shell command: started, watched, and stopped with everything that it started."""

import os
import secrets
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

import attrs

from .stragglers import VARIABLE, send, stragglers

WATCH: Final = 0.02
"""Seconds between looks at a running command, its limits and a cancellation, which has to reach it within 0.1."""
POLL: Final = 0.05
"""Seconds between looks at what is left of it."""
EXIT_GRACE: Final = 0.5
"""Seconds that background processes get to end by themselves after the shell has ended."""
TERM_GRACE: Final = 2.0
"""Seconds between SIGTERM and SIGKILL."""
_KILLS: Final = 100
"""Rounds of SIGKILL, POLL apart; more than one or two only if the kernel holds a process, or if they multiply."""
_CHUNK: Final = 65_536

_GUARDED: Final = f"""
( trap '' TERM HUP INT QUIT
  {{ read -r _ <&"$1"
     for e in /proc/[0-9]*/environ; do
       while IFS= read -r -d '' v; do
         [[ $v == "{VARIABLE}=$2" ]] && p="${{e#/proc/}}" && kill -KILL "${{p%/environ}}"
       done <"$e"
     done
     kill -KILL 0
  }} </dev/null >/dev/null 2>&1 & )
eval "exec $1<&-"
export {VARIABLE}="$2"
exec "$3" -c "$4"
"""
"""First a guard that reads from a pipe whose other end we hold: should we be killed, it kills the command's processes
and then its own group. It is nobody's child, so that a command that waits for all children does not wait for it."""


class Ending(StrEnum):
    """Why a command does not run any more."""

    EXITED = "exited"
    QUIET = "quiet"
    LATE = "late"
    FLOOD = "flood"
    CANCELLED = "cancelled"


@attrs.frozen
class Limits:
    """`quiet` and `total` in seconds (without output, in all); `output` in characters."""

    quiet: float
    total: float
    output: int


class Sink(Protocol):
    """Takes what is printed; `total` counts its characters."""

    total: int

    def feed(self, chunk: bytes) -> None: ...


@attrs.frozen
class Ended:
    """How it ended. `status` is the shell's own exit status, 128 + n if signal n killed it; None if we stopped it.

    `left` counts processes that outlived the shell and were stopped; `gone` is False if something would not die.
    """

    ending: Ending
    status: int | None
    left: int
    gone: bool


@attrs.define
class _Running:
    process: "subprocess.Popen[bytes]"
    output: int
    capture: Sink
    token: str
    open: bool = True

    def ended(self) -> bool:
        return self.process.poll() is not None

    def drain(self, seconds: float) -> bool:
        """Take what is printed within `seconds`, at most one chunk; True if there was something."""
        if not self.open:
            time.sleep(seconds)
            return False
        poll = select.poll()
        poll.register(self.output, select.POLLIN)
        if not poll.poll(seconds * 1000):
            return False
        chunk = os.read(self.output, _CHUNK)
        self.capture.feed(chunk)
        self.open = bool(chunk)
        return self.open

    def watch(self, limits: Limits, cancelled: Callable[[], bool]) -> Ending:
        """Until the shell has ended, or has to be stopped."""
        begun = heard = time.monotonic()
        while not self.ended():
            now = time.monotonic()
            for reason, holds in (
                (Ending.CANCELLED, cancelled()),
                (Ending.QUIET, now - heard > limits.quiet),
                (Ending.LATE, now - begun > limits.total),
                (Ending.FLOOD, self.capture.total > limits.output),
            ):
                if holds:
                    return reason
            if self.drain(WATCH):
                heard = time.monotonic()
        end = time.monotonic() + EXIT_GRACE
        while (self.open or stragglers(self.token)) and time.monotonic() < end and not cancelled():
            self.drain(POLL)
        return Ending.EXITED

    def stop(self) -> tuple[int, bool]:
        """Stop whatever is left. Returns how many besides the shell, and whether all are gone."""
        others = stragglers(self.token)
        if others or not self.ended():
            gone = self._kill(others)
        else:
            send(signal.SIGKILL, self.process.pid, [])  # the guard
            gone = True
        for _ in range(_KILLS):  # what is still in the pipe
            if not self.drain(0):
                break
        return len([process for process in others if process != self.process.pid]), gone

    def _kill(self, others: list[int]) -> bool:
        """Gently first. False if something would not go."""
        send(signal.SIGTERM, self.process.pid, others)
        end = time.monotonic() + TERM_GRACE
        while time.monotonic() < end and not (self.ended() and not stragglers(self.token)):
            self.drain(POLL)
        for _ in range(_KILLS):
            others = stragglers(self.token)
            send(signal.SIGKILL, self.process.pid, others)
            if self.ended() and not others:
                return True
            self.drain(POLL)
        return False


@attrs.frozen
class Command:
    """What to run, where, and with which environment."""

    text: str
    directory: Path
    environment: Mapping[str, str]


def run_command(
    command: Command,
    limits: Limits,
    capture: Sink,
    cancelled: Callable[[], bool],
    note: Callable[[str, int], None] = lambda token, pid: None,
) -> Ended:
    """Run it with `bash -c`, stdout and stderr in one stream, no stdin, no terminal.

    When this returns, its processes are gone, also those in the background and (where there is a /proc) daemons. If
    this process is killed, they are killed too. `note` gets the command's token and 0 before it starts, then its
    process id. Raises OSError if bash cannot be started.
    """
    bash = "/bin/bash" if Path("/bin/bash").exists() else shutil.which("bash") or "/bin/bash"
    token = secrets.token_hex(16)
    note(token, 0)
    life, alive = os.pipe()
    output, printed = os.pipe()
    try:
        try:
            process = subprocess.Popen(  # noqa: S603  # running commands is what this tool is for
                [bash, "--norc", "--noprofile", "-c", _GUARDED, "interlock", str(life), token, bash, command.text],
                cwd=command.directory,
                env=command.environment,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                pass_fds=(life,),
                start_new_session=True,
            )
        finally:
            os.close(life)
            os.close(printed)
        note(token, process.pid)
        running = _Running(process, output, capture, token)
        ending = running.watch(limits, cancelled)
        status = process.poll()
        left, gone = running.stop()
    finally:
        os.close(alive)
        os.close(output)
    if ending is not Ending.EXITED or status is None:
        return Ended(ending, None, left, gone)
    return Ended(ending, status if status >= 0 else 128 - status, left, gone)
