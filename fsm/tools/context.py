"""What a tool gets besides its arguments, and how it says no."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from states.errors import InterlockError

PENDING: Final = 256
"""Progress lines that wait for the event loop; the oldest is dropped (the bound of blade-code)."""
LINE: Final = 1_000
"""Characters of one progress line that are shown (likewise)."""


class ToolError(InterlockError):
    """Raised by a tool to tell the model, in one sentence, why it could not do what was asked."""


class ToolContext:
    """Injected into a parameter annotated `ToolContext`; never part of the schema.

    `key` is the idempotency key: the same for every start of the same intent. `cancelled` becomes true when somebody
    stops the run: a synchronous tool cannot be interrupted, so a long one looks at it from time to time.
    """

    def __init__(self, key: str = "", show: Callable[[str], None] = lambda _: None) -> None:
        self.key = key
        self._show = show
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ask the tool to stop; it may have finished first."""
        self._cancelled.set()

    def progress(self, text: str) -> None:
        """Show a line while the tool works. It is ephemeral, and cut to 1,000 characters."""
        self._show(text[:LINE])


def relay(show: Callable[[str], None], loop: asyncio.AbstractEventLoop) -> Callable[[str], None]:
    """`show` for use from another thread: calls arrive in order, on the loop, and a flood loses its oldest lines."""
    waiting: deque[str] = deque(maxlen=PENDING)
    scheduled = threading.Event()

    def flush() -> None:
        scheduled.clear()
        while waiting:
            show(waiting.popleft())

    def send(text: str) -> None:
        waiting.append(text)
        if not scheduled.is_set() and not loop.is_closed():
            scheduled.set()
            loop.call_soon_threadsafe(flush)

    return send
