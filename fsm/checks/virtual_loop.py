"""An event loop whose time stands still unless somebody moves it, and whose order of events is drawn from a seed."""

import asyncio
import random
from collections import deque
from collections.abc import Callable


class VirtualLoop(asyncio.SelectorEventLoop):
    """The same seed gives the same order. `now` gives the loop's time in seconds.

    Whatever is ready runs in an order that `dice` chooses, as it might where answers race. Nothing may leave the loop:
    work in threads would bring in an order of its own.
    """

    _ready: "deque[asyncio.Handle]"

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.now = now
        self.dice = random.Random(0)  # noqa: S311  no secret: it has to be repeatable

    def time(self) -> float:
        return self.now()

    def run_in_executor(self, executor: object, func: object, *args: object) -> "asyncio.Future[object]":  # type: ignore[override]
        raise RuntimeError("a simulated history uses no threads; give it parts that do not")

    def _run_once(self) -> None:
        """Asyncio's own step (3.11 to 3.13), over a shuffled queue: what is ready at once has no order to rely on."""
        if len(self._ready) > 1:
            shuffled = list(self._ready)
            self.dice.shuffle(shuffled)
            self._ready.clear()
            self._ready.extend(shuffled)
        super()._run_once()  # type: ignore[misc]
