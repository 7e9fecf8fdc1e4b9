"""Waiting for something that cannot be taken back."""

import asyncio
from typing import TypeVar

T = TypeVar("T")


async def outcome(future: asyncio.Future[T]) -> T:
    """The future's result. A cancellation meanwhile is held back until the result is in, then raised."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait((future,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        future.exception()  # seen: the canceller cares for the end only
        raise cancelled
    return future.result()
