"""Calls a function, synchronous or not, and turns whatever it does into a value."""

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import attrs

from .threads import in_thread

T = TypeVar("T")


@attrs.frozen
class Reading(Generic[T]):
    """How to read what a call did: what it returned, or what it raised. Neither may raise."""

    value: Callable[[Any], T]
    fault: Callable[[BaseException], T]


async def settle(call: "partial[Any]", reading: Reading[T], on_cancel: Callable[[], None]) -> T:
    """Call it, and read the outcome. Only a cancellation of the caller leaves as an exception.

    A synchronous function runs in a thread; on cancellation `on_cancel` is called, and its outcome is awaited.
    """
    if inspect.iscoroutinefunction(call.func):
        return await _awaited(call, reading)
    return await in_thread(partial(_called, call, reading), on_cancel)


def _called(call: "partial[Any]", reading: Reading[T]) -> T:
    try:
        value = call()
    except BaseException as error:  # noqa: BLE001  # nobody above us in this thread would hear of it
        return reading.fault(error)
    return reading.value(value)


async def _awaited(call: "partial[Any]", reading: Reading[T]) -> T:
    task = asyncio.current_task()
    try:
        value = await call()
    except asyncio.CancelledError as error:
        if task is None or task.cancelling():
            raise
        return reading.fault(error)  # nobody cancelled us: something inside the function was
    except (Exception, SystemExit) as error:  # noqa: BLE001  # read, not lost
        return reading.fault(error)
    return reading.value(value)
