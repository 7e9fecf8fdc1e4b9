"""Calls a function of any kind, and turns whatever it does into a value."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing
from functools import partial
from typing import Any, Generic, TypeVar

import attrs

from .threads import Leaving, in_thread

T = TypeVar("T")


@attrs.frozen
class Reading(Generic[T]):
    """How to read what a call did: what it returned, what it raised, or that it would not stop. None may raise."""

    value: Callable[[Any], T]
    fault: Callable[[BaseException], T]
    abandoned: Callable[[], T]


@attrs.frozen
class Manners:
    """`on_cancel` asks the call to stop; one in a thread gets `grace` seconds for that. `step` sees what is yielded."""

    on_cancel: Callable[[], None] = lambda: None
    grace: float = 0.0
    step: Callable[[Any], None] = lambda _: None


def in_loop(function: Callable[..., object]) -> bool:
    """Whether it runs on the event loop; any other runs in a thread."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


async def settle(call: "partial[Any]", reading: Reading[T], manners: Manners) -> T:
    """Call it, and read the outcome. Only a cancellation of the caller leaves as an exception.

    A generator's value is what it returns, else what it yielded last. A synchronous function runs in a thread: on
    cancellation its outcome is awaited, and if it does not come in time, read as abandoned.
    """
    if in_loop(call.func):
        return await _awaited(call, reading, manners.step)
    leaving = Leaving(manners.on_cancel, manners.grace, reading.abandoned)
    return await in_thread(partial(_called, call, reading, manners.step), leaving)


def _called(call: "partial[Any]", reading: Reading[T], step: Callable[[Any], None]) -> T:
    try:
        made = call()
        value: object = _drained(made, step) if inspect.isgeneratorfunction(call.func) else made
    except BaseException as error:  # noqa: BLE001  # nobody above us in this thread would hear of it
        return reading.fault(error)
    return reading.value(value)


async def _awaited(call: "partial[Any]", reading: Reading[T], step: Callable[[Any], None]) -> T:
    task = asyncio.current_task()
    try:
        made = call()
        value: object = await (_drained_async(made, step) if inspect.isasyncgenfunction(call.func) else made)
    except asyncio.CancelledError as error:
        if task is None or task.cancelling():
            raise
        return reading.fault(error)  # nobody cancelled us: something inside the function was
    except (Exception, SystemExit) as error:  # noqa: BLE001  # read, not lost
        return reading.fault(error)
    return reading.value(value)


def _drained(generator: Generator[object, None, object], step: Callable[[Any], None]) -> object:
    last: object = None
    with closing(generator):
        while True:
            try:
                last = next(generator)
            except StopIteration as end:
                return last if end.value is None else end.value
            step(last)


async def _drained_async(generator: AsyncGenerator[object, None], step: Callable[[Any], None]) -> object:
    last: object = None
    async with aclosing(generator):
        async for last in generator:
            step(last)
    return last
