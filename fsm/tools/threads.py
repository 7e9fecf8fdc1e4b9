"""Runs a blocking call in a thread of its own, and stays truthful when the caller is cancelled.

A thread of its own rather than the shared pool: a long command must not starve whoever else needs the pool, and a hung
one must not keep the interpreter from ending.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import attrs

T = TypeVar("T")


@attrs.frozen
class Leaving(Generic[T]):
    """How a call is left: `ask` it to stop, give it `grace` seconds, then answer `abandoned` in its place."""

    ask: Callable[[], None]
    grace: float
    abandoned: Callable[[], T]


async def in_thread(call: Callable[[], T], leaving: Leaving[T]) -> T:
    """What `call` returns; `call` must not raise.

    A thread cannot be cancelled. On cancellation the call is asked to stop, then awaited to its end and its value
    returned: it happened, so that is the true answer. One that does not come in time is left behind, and that is said.
    A second cancellation stops the waiting.
    """
    loop = asyncio.get_running_loop()
    landed: asyncio.Future[T] = loop.create_future()

    def land(value: T) -> None:
        if not landed.done():
            landed.set_result(value)

    def work() -> None:
        value = call()
        with contextlib.suppress(RuntimeError):  # the loop was closed; nobody waits any more
            loop.call_soon_threadsafe(land, value)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name="interlock-tool", daemon=True).start()
    try:
        return await asyncio.shield(landed)
    except asyncio.CancelledError:
        leaving.ask()
        await asyncio.wait([landed], timeout=leaving.grace)
        return landed.result() if landed.done() else leaving.abandoned()
