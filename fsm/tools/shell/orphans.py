"""Finds what a lost process left running, and ends it.

Normally nothing is left: a guard ends a command with the process that started it. But a guard can be killed too, and
where there is no /proc it knows only its own group. So each command is written down while it runs; what is still
written down when the session is taken up again belongs to a process that is gone.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs
import orjson

from fsm.tools.state_dir import file_name, make

from .stragglers import send, stragglers

GRACE: Final = 2.0
"""Seconds between SIGTERM and SIGKILL, as for a command that is stopped."""
POLL: Final = 0.02
"""Seconds between looks at what has been signalled."""
ROUNDS: Final = 100
"""Rounds of SIGKILL, POLL apart."""
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@attrs.frozen
class Mark:
    """A command that runs. `token` is in the environment of its processes; `pid` is its leader, `started` when.

    `started` is in clock ticks since `boot`: a process with the same number and another start is another process.
    """

    token: str
    pid: int = 0
    started: int = 0
    boot: str = ""


@attrs.frozen
class Found:
    """How many processes of a lost command were ended, and how many would not go."""

    ended: int = 0
    left: int = 0

    def __str__(self) -> str:
        if self.left:
            return f"{self.left} of its processes could not be stopped and may still be running."
        if self.ended:
            return f"{self.ended} of its processes were still running; they have been ended."
        return "Nothing of it is running any more."


class Register:
    """The running commands of a state directory, by idempotency key."""

    def __init__(self, state_dir: Path) -> None:
        self._home = state_dir / "running"
        self._ours: set[str] = set()
        self._found: dict[str, Found] = {}
        self._guard = threading.Lock()

    def noting(self, key: str) -> Callable[[str, int], None]:
        """What a command is to be noted with: its token before it starts, then also its leader's process id."""

        def note(token: str, pid: int) -> None:
            with self._guard:
                self._ours.add(key)
            mark = Mark(token, pid, started_at(pid) or 0, boot()) if pid else Mark(token, boot=boot())
            path = self._path(key)
            with suppress(OSError):  # a full disk must not keep a command from running: its guard is still there
                make(path.parent)
                path.write_bytes(orjson.dumps(attrs.asdict(mark)))

        return note

    def over(self, key: str) -> None:
        """The command and all that it had started are gone."""
        with suppress(OSError):
            self._path(key).unlink(missing_ok=True)
        with self._guard:
            self._ours.discard(key)

    def sweep(self, session: str) -> None:
        """End what processes that are gone left running for the session. It takes seconds if something will not go."""
        for path in sorted((self._home / file_name(session)).glob("*.json")):
            key = f"{session}:{path.stem}"
            with self._guard:
                ours = key in self._ours
            if not ours:
                self._found[key] = _end(path)

    def about(self, key: str) -> str:
        """What is known of a lost command, for whoever reads its answer; empty if nothing is."""
        path = self._path(key)
        if path.exists() and key not in self._ours:
            self._found[key] = _end(path)
        found = self._found.get(key)
        return f" {found}" if found else ""

    def _path(self, key: str) -> Path:
        session, _, number = key.rpartition(":")
        return self._home / file_name(session) / f"{file_name(number)}.json"


def _end(path: Path) -> Found:
    """End what is left of one command, and forget it. A mark that cannot be read names nobody."""
    try:
        mark = Mark(**orjson.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        mark = Mark("")
    found = Found() if mark.boot != boot() or not mark.token else _stop(mark)
    with suppress(OSError):
        path.unlink(missing_ok=True)
    return found


def _stop(mark: Mark) -> Found:
    seen = set(_alive(mark))
    _signal(signal.SIGTERM, mark)
    end = time.monotonic() + GRACE
    while (left := _alive(mark)) and time.monotonic() < end:
        seen |= set(left)
        time.sleep(POLL)
    for _ in range(ROUNDS):
        left = _alive(mark)
        seen |= set(left)
        if not left:
            return Found(len(seen))
        _signal(signal.SIGKILL, mark)
        time.sleep(POLL)
    return Found(len(seen) - len(left), len(left))


def _signal(number: signal.Signals, mark: Mark) -> None:
    if _is_leader(mark):
        send(number, mark.pid, stragglers(mark.token))
        return
    for process in stragglers(mark.token):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _alive(mark: Mark) -> list[int]:
    found = stragglers(mark.token)
    return [*found, mark.pid] if _is_leader(mark) and mark.pid not in found else found


def _is_leader(mark: Mark) -> bool:
    """The process with the leader's number is still that one, and no other that got its number later."""
    return bool(mark.pid and mark.started) and started_at(mark.pid) == mark.started


def started_at(pid: int) -> int | None:
    """Clock ticks since boot at which a process started; None if there is none, if it is a zombie, or without /proc."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *rest = said.rpartition(")")[2].split()  # the name before it may hold anything
    return None if state in "ZX" else int(rest[18])


def boot() -> str:
    """Which start of the machine this is; empty without /proc."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
