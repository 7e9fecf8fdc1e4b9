"""What a tool gets besides its arguments, and how it says no."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from states.errors import InterlockError
from states.ports import Caller

PENDING: Final = 256
"""Progress lines that wait for the event loop; the oldest is dropped (the bound of blade-code)."""
LINE: Final = 1_000
"""Characters of one progress line that are shown (likewise)."""


class ToolError(InterlockError):
    """Raised by a tool to tell the model, in one sentence, why it could not do what was asked."""


class ToolContext:
    """Injected into a parameter annotated `ToolContext`; never part of the schema.

    `key` is the idempotency key: the same for every start of the same intent. `session` is the session's name,
    `workspace` its folder (None without one). `cancelled` becomes true when somebody stops the run: a synchronous tool
    cannot be interrupted, so a long one looks at it from time to time, or waits with `wait_cancelled`. `caller` is the
    run, for tools that run loops of their own.
    """

    def __init__(
        self,
        key: str = "",
        show: Callable[[str], None] = lambda _: None,
        workspace: Path | None = None,
        caller: Caller | None = None,
    ) -> None:
        self.key = key
        self.workspace = workspace
        self.caller = caller
        self._show = show
        self._cancelled = threading.Event()

    @property
    def session(self) -> str:
        """The part of the key before its sequence number; empty outside a run."""
        return self.key.rpartition(":")[0]

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def wait_cancelled(self, seconds: float) -> bool:
        """Sleep, but no longer than until the run is stopped; true if it was. For tools that run in a thread."""
        return self._cancelled.wait(seconds)

    def cancel(self) -> None:
        """Ask the tool to stop; it may have finished first."""
        self._cancelled.set()

    def progress(self, text: str) -> None:
        """Show a line while the tool works. It is ephemeral, and cut to 1,000 characters."""
        self._show(text[:LINE])


class Shown:
    """Passes progress lines on, and remembers the last 256 of them for a call that is cancelled.

    Closed, it passes nothing on: what a thread says that was left behind belongs to no call any more.
    """

    def __init__(self, show: Callable[[str], None], heard: Callable[[], None] = lambda: None) -> None:
        self.lines: deque[str] = deque(maxlen=PENDING)
        self._show = show
        self._heard = heard
        self._closed = False

    def __call__(self, line: str) -> None:
        if not self._closed:
            self.lines.append(line)
            self._heard()
            self._show(line)

    def close(self) -> None:
        self._closed = True


def relay(show: Callable[[str], None], loop: asyncio.AbstractEventLoop) -> Callable[[str], None]:
    """`show` for use from another thread: calls arrive in order, on the loop, and a flood loses its oldest lines."""
    waiting: deque[str] = deque(maxlen=PENDING)
    scheduled = threading.Event()
    lost = 0

    def flush() -> None:
        nonlocal lost
        scheduled.clear()
        if lost:
            said, lost = f"[{lost:,} lines left out]", 0
            show(said)
        while waiting:
            show(waiting.popleft())

    def send(text: str) -> None:
        nonlocal lost
        lost += len(waiting) == PENDING
        waiting.append(text)
        if not scheduled.is_set() and not loop.is_closed():
            scheduled.set()
            loop.call_soon_threadsafe(flush)

    return send
