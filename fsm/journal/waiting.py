"""Waiting for something that cannot be taken back."""

import asyncio
from typing import TypeVar

T = TypeVar("T")


class Pending(asyncio.Future[T]):
    """Cannot be cancelled: a cancellation of whoever awaits it arrives there when the result is in."""

    def cancel(self, msg: object = None) -> bool:
        return False


async def outcome(future: Pending[T]) -> T:
    """The future's result. A cancellation meanwhile is held back until the result is in, then raised."""
    try:
        return await future
    except asyncio.CancelledError:
        future.exception()  # seen: the canceller cares for the end only
        raise
