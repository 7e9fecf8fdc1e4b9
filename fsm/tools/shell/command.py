"""One shell command: started, watched, and stopped with everything that it started."""

import os
import select
import signal
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Final, Protocol

import attrs

from .started import Command, Started, new_token, start
from .stragglers import send

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
    started: Started
    output: int
    capture: Sink
    open: bool = True
    heard: float = attrs.field(factory=time.monotonic)
    """When something was printed last."""

    def ended(self) -> bool:
        return self.started.poll() is not None

    def drain(self, seconds: float) -> bool:
        """Take what is printed within `seconds`, at most one chunk; True if there was something.

        It returns early when the shell has ended, as far as that is told.
        """
        poll, news = select.poll(), self.started.news
        for source in ([self.output] if self.open else []) + ([] if news is None else [news]):
            poll.register(source, select.POLLIN)
        if self.output not in dict(poll.poll(seconds * 1000)):
            return False
        chunk = os.read(self.output, _CHUNK)
        if chunk:
            self.heard = time.monotonic()  # before anybody is shown it: what they take to read is silence, too
        self.capture.feed(chunk)
        self.open = bool(chunk)
        return self.open

    def watch(self, limits: Limits, cancelled: Callable[[], bool]) -> Ending:
        """Until the shell has ended, or has to be stopped."""
        begun = self.heard = time.monotonic()
        while not self.ended():
            now = time.monotonic()
            for reason, holds in (
                (Ending.CANCELLED, cancelled()),
                (Ending.QUIET, now - self.heard > limits.quiet),
                (Ending.LATE, now - begun > limits.total),
                (Ending.FLOOD, self.capture.total > limits.output),
            ):
                if holds:
                    return reason
            self.drain(WATCH)
        end = time.monotonic() + EXIT_GRACE
        while (self.open or self.started.processes()) and time.monotonic() < end and not cancelled():
            self.drain(POLL)
        return Ending.EXITED

    def stop(self) -> tuple[int, bool]:
        """Stop whatever is left. Returns how many besides the shell, and whether all are gone."""
        others = self.started.processes()
        gone = self._kill(others) if others or not self.ended() else True
        for _ in range(_KILLS):  # what is still in the pipe
            if not self.drain(0):
                break
        return len([process for process in others if process != self.started.pid]), gone

    def _kill(self, others: list[int]) -> bool:
        """Gently first. False if something would not go."""
        send(signal.SIGTERM, self.started.group, others)
        end = time.monotonic() + TERM_GRACE
        while time.monotonic() < end and not (self.ended() and not self.started.processes()):
            self.drain(POLL)
        for _ in range(_KILLS):
            others = self.started.processes()
            send(signal.SIGKILL, self.started.group, others)
            if self.ended() and not others:
                return True
            self.drain(POLL)
        return False


def run_command(
    command: Command,
    limits: Limits,
    capture: Sink,
    cancelled: Callable[[], bool],
    note: Callable[[str, int], None] = lambda token, pid: None,
) -> Ended:
    """Run it with `bash -c`, stdout and stderr in one stream, no stdin, no terminal.

    When this returns, its processes are gone, also those in the background and daemons: all of them on Linux; where it
    does not allow that, and elsewhere, its process group and those that carry its mark (where there is a /proc). If
    this process is killed, they are killed too. `note` gets the command's token and 0 before it starts, then its
    process id. Raises OSError if bash cannot be started.
    """
    token = new_token()
    note(token, 0)
    life, alive = os.pipe()
    output, printed = os.pipe()
    try:
        try:
            started = start(command, printed, life, token)
        finally:
            os.close(life)
            os.close(printed)
        note(token, started.pid)
        running = _Running(started, output, capture)
        try:
            ending = running.watch(limits, cancelled)
            status = started.poll()
            left, gone = running.stop()
        finally:
            started.close()
    finally:
        os.close(alive)
        os.close(output)
    if ending is not Ending.EXITED or status is None:
        return Ended(ending, None, left, gone)
    return Ended(ending, status if status >= 0 else 128 - status, left, gone)
