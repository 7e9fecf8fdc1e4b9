"""A limit on each of many waits, with one timer: setting one for every piece of a stream costs more than reading it."""

import asyncio
from types import TracebackType
from typing import Self


class Silence:
    """`with silence.within(seconds):` raises TimeoutError where `asyncio.timeout(seconds)` would. Close it at the end.

    For one wait at a time, of any task. The timer is moved only for a wait that has to end before it; one that goes
    off too early is set anew.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._until = 0.0
        self._waiting: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._over = False

    def within(self, seconds: float) -> Self:
        self._until = self._loop.time() + seconds
        if self._timer is None or self._until < self._timer.when():
            self._set()
        return self

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def __enter__(self) -> None:
        self._waiting = asyncio.current_task()
        self._cancelling = self._waiting.cancelling() if self._waiting else 0
        self._over = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._waiting = self._waiting, None
        if self._over and task is not None and task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _set(self) -> None:
        self.close()
        self._timer = self._loop.call_at(self._until, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._waiting is None:
            return
        if self._loop.time() < self._until:
            self._set()
        else:
            self._over = True
            self._waiting.cancel()
