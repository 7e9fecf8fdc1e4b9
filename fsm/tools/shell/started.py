"""How a command is started: by a keeper where there is one, else with a guard beside it."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import attrs

from . import keeper
from .stragglers import VARIABLE, descendants, send, stragglers

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
LOST: Final = 137
"""Exit status of a shell whose supervisor was killed: 128 + SIGKILL, which is what then happens to the shell."""


@attrs.frozen
class Command:
    """What to run, where, and with which environment."""

    text: str
    directory: Path
    environment: Mapping[str, str]


class Started(Protocol):
    """A command that runs. `pid` is its shell's, which leads its process group."""

    @property
    def pid(self) -> int: ...

    @property
    def news(self) -> int | None:
        """A descriptor that is readable once the shell has ended; None if one has to look."""

    def poll(self) -> int | None:
        """The shell's exit status, -n for signal n; None while it runs."""

    def processes(self) -> list[int]:
        """Whatever of it is left, with the shell."""

    @property
    def group(self) -> int:
        """The process group to signal; 0 once its number may be somebody else's."""

    def close(self) -> None:
        """The command is gone: so is whoever watched it, then."""


@attrs.define(eq=False)
class Kept:
    """Started by a keeper; `report` is what its supervisor says, and ends with it."""

    token: str
    report: int
    supervisor: int = 0
    pid: int = 0
    fault: int = 0
    _status: int | None = None
    _over: bool = False
    _heard: bytes = b""

    @property
    def news(self) -> int | None:
        return None if self._over else self.report

    @property
    def group(self) -> int:
        return self.pid if self.poll() is None else 0

    def begun(self) -> bool:
        """Wait until it runs. False if nothing of it was started. Raises OSError if the shell could not be."""
        os.set_blocking(self.report, True)
        while not (self.pid or self.fault or self._over):
            self._hear()
        os.set_blocking(self.report, False)
        if self.fault:
            raise OSError(self.fault, os.strerror(self.fault))
        return bool(self.supervisor)

    def poll(self) -> int | None:
        with suppress(BlockingIOError):
            while not self._over:
                self._hear()
        return LOST if self._over and self._status is None else self._status

    def processes(self) -> list[int]:
        found = [] if self._over else descendants(self.supervisor)
        self.poll()
        return stragglers(self.token) if self._over else found  # it is over early if somebody killed the supervisor

    def _hear(self) -> None:
        chunk = os.read(self.report, 4096)
        self._over = not chunk
        *lines, self._heard = (self._heard + chunk).split(b"\n")
        for line in lines:
            word, _, number = line.partition(b" ")
            if word == b"ready":
                self.supervisor = int(number)
            elif word == b"pid":
                self.pid = int(number)
            elif word == b"error":
                self.fault = int(number)
            elif word == b"status":
                self._status = int(number)

    def close(self) -> None:
        os.close(self.report)


@attrs.frozen(eq=False)
class Guarded:
    """Started as a child of ours, with a guard in its group."""

    process: "subprocess.Popen[bytes]"
    token: str

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def news(self) -> int | None:
        return None

    @property
    def group(self) -> int:
        return self.process.pid  # the guard is in it: the number is taken

    def poll(self) -> int | None:
        return self.process.poll()

    def processes(self) -> list[int]:
        return stragglers(self.token)

    def close(self) -> None:
        send(signal.SIGKILL, self.process.pid, [])


class Keeper:
    """The one keeper of this process, started with the first command; a new one if it was killed."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._lock = threading.Lock()
        self._owner = 0

    def start(self, command: Command, token: str, bash: str, output: int, life: int) -> Kept | None:
        """None if there can be no keeper here, or it does not answer: then nothing was started. Raises OSError."""
        for _ in range(2):
            kept = self._ask(command, token, bash, output, life)
            if kept is None:
                return None
            if kept.begun():
                return kept
            kept.close()
            with self._lock:
                self._drop()
        return None

    def _ask(self, command: Command, token: str, bash: str, output: int, life: int) -> Kept | None:
        environment = {**command.environment, VARIABLE: token}
        argv = [bash, "-c", command.text]
        os.fsencode(command.text)  # what cannot be said to a shell is an error here
        asked = keeper.Asked(token=token, argv=argv, directory=str(command.directory), environment=environment)
        request, asking = os.pipe()
        heard, report = os.pipe()
        try:
            with self._lock:
                line = self._connected()
                if line is None:
                    os.close(asking)
                    os.close(heard)
                    return None
                with suppress(OSError):  # it is gone: its pipes end, and that is seen
                    socket.send_fds(line, [b"."], [request, output, life, report])
        finally:
            os.close(request)
            os.close(report)
        with suppress(BrokenPipeError), os.fdopen(asking, "wb") as file:
            file.write(json.dumps(asked).encode())
        return Kept(token, heard)

    def _connected(self) -> socket.socket | None:
        if self._line is None or self._owner != os.getpid():  # a fork of ours has to have its own
            self._drop()
            self._line, self._owner = _keeper(), os.getpid()
        return self._line

    def _drop(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


def _keeper() -> socket.socket | None:
    """A new keeper's socket; None where there is no Linux, or no Python that could be started.

    It is told nothing of our environment: a command could read it there.
    """
    if not (sys.platform == "linux" and sys.executable and Path("/proc/self/stat").exists()) or hasattr(sys, "frozen"):
        return None
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            subprocess.run(  # noqa: S603  our own program
                [sys.executable, "-I", "-S", keeper.__file__, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ},
                start_new_session=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError):
            ours.close()
            return None
    return ours


KEEPER: Final = Keeper()


def start(command: Command, output: int, life: int, token: str) -> Started:
    """Start it: stdout and stderr into `output`, no stdin, no terminal. `life` ends with us. Raises OSError."""
    bash = "/bin/bash" if Path("/bin/bash").exists() else shutil.which("bash") or "/bin/bash"
    return KEEPER.start(command, token, bash, output, life) or _guarded(command, token, bash, output, life)


def new_token() -> str:
    return secrets.token_hex(16)


def _guarded(command: Command, token: str, bash: str, output: int, life: int) -> Guarded:
    process = subprocess.Popen(  # noqa: S603  running commands is what this tool is for
        [bash, "--norc", "--noprofile", "-c", _GUARDED, "interlock", str(life), token, bash, command.text],
        cwd=command.directory,
        env=command.environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=(life,),
        start_new_session=True,
    )
    return Guarded(process, token)
