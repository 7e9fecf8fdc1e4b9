"""Starts commands from a process of its own, and stays with each until all that it started is gone.

Run as a script (`python -I -S keeper.py SOCKET`), with nothing but the standard library. It forks a supervisor for each
command. On Linux that is a *subreaper*: whatever a command leaves behind, a daemon in a session of its own and without
our mark in its environment too, becomes the supervisor's child and not init's, so it can be found. The process that
uses the library is no subreaper, has no child of ours, and is never asked to wait for one. Should it be killed, each
supervisor sees its pipe end, and ends its command.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TypedDict

VARIABLE = "INTERLOCK_COMMAND"
"""In the environment of a command's processes: what finds them where there is no supervisor any more."""
_SUBREAPER, _POLL, _LONGEST = 36, 0.02, 1.0
"""PR_SET_CHILD_SUBREAPER (linux/prctl.h); seconds between rounds of SIGKILL, first and at most."""
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_DEFAULT = (*_IGNORED, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
FDS = 4
"""Of each command: its request, its output, the pipe that ends with us, and the pipe for what becomes of it."""


def _numbers() -> Iterator[str]:
    try:
        return iter([name for name in os.listdir("/proc") if name.isdigit()])  # noqa: PTH208  a script without pathlib
    except OSError:
        return iter(())


def _read(path: str) -> bytes:
    """Empty for a process that is gone, or somebody else's."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def marked(token: str) -> list[int]:
    """Process ids that carry the token; none where there is no /proc (macOS). Zombies do not count."""
    mark = f"{VARIABLE}={token}".encode()
    return [int(number) for number in _numbers() if mark in _read(f"/proc/{number}/environ").split(b"\0")]


def descendants(root: int) -> list[int]:
    """Process ids below `root`, children first. Zombies do not count, but what stands below them does."""
    below: dict[int, list[int]] = {}
    dead: set[int] = set()
    for number in _numbers():
        state, parent, *_ = _read(f"/proc/{number}/stat").rpartition(b")")[2].split() or (b"X", b"0")
        below.setdefault(int(parent), []).append(int(number))
        if state in b"ZX":
            dead.add(int(number))
    found = [root]
    for process in found:  # it grows meanwhile
        found += below.get(process, [])
    return [process for process in found[1:] if process not in dead]


def _kill(process: int) -> None:
    with suppress(OSError):
        os.kill(process, signal.SIGKILL)


def _become_subreaper() -> None:
    """Where the kernel or Python does not allow it, the mark in the environment has to do."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


class Asked(TypedDict):
    """A command, as it is sent through the pipe for requests."""

    token: str
    argv: list[str]
    directory: str
    environment: dict[str, str]


def _shell(asked: Asked, output: int) -> tuple[int, int]:
    """Start it. Its process id, and an error number if it could not be (0: it runs)."""
    failed, failing = os.pipe()
    child = os.fork()
    if child:
        os.close(failing)
        said = os.read(failed, 16)
        os.close(failed)
        return child, int(said or b"0")
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in _DEFAULT:
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(asked["directory"])
        names = {_bytes(name): _bytes(value) for name, value in asked["environment"].items()}
        os.execve(asked["argv"][0], [_bytes(word) for word in asked["argv"]], names)  # noqa: S606  a shell it is
    except OSError as error:
        os.write(failing, str(error.errno or 1).encode())
    finally:
        os._exit(127)
    raise AssertionError


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class _Supervisor:
    """One command. It reports `ready`, then `pid` or `error`, then `status`; its pipe ends when all of it is gone."""

    def __init__(self, request: int, output: int, life: int, report: int) -> None:
        self._life, self._report, self._shell = life, report, 0
        self._woken, waking = os.pipe()
        os.set_blocking(waking, False)
        os.set_blocking(self._woken, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        _become_subreaper()
        with os.fdopen(request, "rb") as file:
            said = file.read()
        self._token = ""
        if said:  # else whoever asked is gone already
            asked: Asked = json.loads(said)
            self._token = asked["token"]
            self._say(f"ready {os.getpid()}")
            self._shell, fault = _shell(asked, output)
            self._say(f"error {fault}" if fault else f"pid {self._shell}")
        os.close(output)

    def stay(self) -> None:
        """Until there is nothing left; if the pipe ends before, end it."""
        poll = select.poll()
        poll.register(self._life, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        while self._reap():
            for source, _ in poll.poll():
                if source == self._life:
                    self._end()
                    return
                os.read(source, 4096)

    def _reap(self) -> bool:
        """Take up whoever has ended. False if nobody is left."""
        while True:
            try:
                process, raw = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if process == 0:
                return True
            if process == self._shell:
                self._shell = 0
                self._say(f"status {os.waitstatus_to_exitcode(raw)}")

    def _end(self) -> None:
        pause = _POLL
        while True:
            left = {*descendants(os.getpid()), *marked(self._token)}
            for process in left:
                _kill(process)
            if not self._reap() and not left:
                return
            time.sleep(pause)
            pause = min(_LONGEST, pause * 1.5)

    def _say(self, line: str) -> None:
        with suppress(OSError):  # nobody listens any more
            os.write(self._report, f"{line}\n".encode())


def main(number: int) -> None:
    """Take commands from the socket until its other end is closed."""
    if os.fork():
        return  # so that whoever started us has no child
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    with socket.socket(fileno=number) as asked:
        while True:
            said, fds, _, _ = socket.recv_fds(asked, 1, FDS)
            if not said:
                return
            for fd in fds:
                os.set_inheritable(fd, False)
            if len(fds) == FDS and os.fork() == 0:
                try:
                    asked.close()
                    _Supervisor(*fds).stay()
                finally:
                    os._exit(0)
            for fd in fds:
                os.close(fd)


if __name__ == "__main__":
    main(int(sys.argv[1]))
