"""Ctrl-C: the first one lets the run rest, committed; the second one leaves at once."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs

from .status import Status
from .terminal import errors, say


@attrs.define(eq=False)
class Interrupts:
    """Takes SIGINT and SIGTERM while a run goes on. `stop` is called for the first of them."""

    stop: Callable[[], None]
    seen: int = 0

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Only inside a running event loop."""
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signum, self._interrupt)
        try:
            yield
        finally:
            for signum in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(signum)

    def _interrupt(self) -> None:
        self.seen += 1
        if self.seen > 1:
            errors().show_cursor(show=True)
            os._exit(Status.INTERRUPTED)
        say("stopping: the run comes to rest; once more to leave at once", "yellow")
        self.stop()
