"""The real clock and real names: the only place that reads time or randomness."""

import asyncio
import secrets
import time


class SystemClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class RandomIds:
    def session(self) -> str:
        """Sorts by the second it was made in; 32 random bits keep concurrent ones apart."""
        return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"
