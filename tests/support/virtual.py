"""An event loop whose time passes when everybody waits: sleep costs nothing, and the order is the same each time."""

import asyncio
import selectors


class _Selector(selectors.DefaultSelector):
    """Waits for no one: where the loop would, the loop's own time goes on instead."""

    def __init__(self):
        super().__init__()
        self.passed = 0.0

    def select(self, timeout=None):
        ready = super().select(0)
        if not ready and timeout:
            self.passed += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self):
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self):
        return self._virtual.passed


def run_virtually(work):
    """Run a coroutine to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)


class VirtualClock:
    """The loop's time, as a `Clock`."""

    def now(self):
        return 1_000_000.0 + asyncio.get_running_loop().time()

    def monotonic(self):
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds):
        await asyncio.sleep(seconds)
