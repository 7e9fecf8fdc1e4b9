"""A real terminal around a process: a pty, and a screen that takes what the process draws."""

import os
import pty
import select
import signal
import struct
import subprocess
import time
from fcntl import ioctl
from termios import TIOCSWINSZ
from typing import Self

import pyte

PATIENCE = 30.0
"""Seconds until something must be seen, also on a machine that has other things to do."""


class Screen:
    """`with Screen(words, cwd=..., env=...) as screen:` starts the process; it is killed at the end."""

    def __init__(self, words, *, columns=100, rows=40, **options):
        self.raw = b""
        self._screen = pyte.HistoryScreen(columns, rows, history=2000)
        self._screen.write_process_input = self._answer
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        ioctl(slave, TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, **options
        )
        os.close(slave)

    def _answer(self, data):
        """What a terminal says when it is asked where its cursor is."""
        os.write(self._master, data.encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(30)
        os.close(self._master)

    def type(self, text):
        os.write(self._master, text.encode())

    def enter(self, text):
        self.type(text + "\r")

    @property
    def lines(self):
        """Everything that was shown and stayed, the oldest first."""
        gone = ["".join(line[x].data for x in range(self._screen.columns)) for line in self._screen.history.top]
        return [line.rstrip() for line in (*gone, *self._screen.display)]

    @property
    def text(self):
        return "\n".join(self.lines)

    def read(self, seconds):
        """What the process draws within that time; False once its terminal is closed."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:  # EIO: nobody has the other side any more
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)

    def until(self, shown, *, after="session s"):
        """Wait until `shown` is seen (a text behind `after`, or a function of all lines); what is seen then."""
        deadline = time.monotonic() + PATIENCE
        met = shown if callable(shown) else lambda text: after in text and shown in text[text.index(after) :]
        while not met(self.text):
            assert time.monotonic() < deadline, f"not seen: {shown!r}; on the screen:\n{self.text}"
            if not self.read(0.5):
                assert met(self.text), f"it ended, and this was not seen: {shown!r}; on the screen:\n{self.text}"
        return self.text

    def wait(self):
        """The exit status, once the process has ended."""
        deadline = time.monotonic() + PATIENCE
        while self.read(1.0):
            assert time.monotonic() < deadline, f"it does not end; on the screen:\n{self.text}"
        return self.process.wait(PATIENCE)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)
