"""Asks one hook, within its time. Whatever goes wrong is an answer in words, never an exception."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Generic

import attrs

from .command import run_command
from .conventions import Misunderstood
from .hook import Asked, Heard, Said

Understand = Callable[[int, str, str], Said | None]
"""What a command meant with its exit status, standard output and standard error. Raises Misunderstood."""


@attrs.frozen
class Terms(Generic[Heard, Said]):
    """How one question is put to hooks: to a function as `heard`, to a command as `written`."""

    heard: Heard
    written: bytes
    understand: "Understand[Said]"
    answers: tuple[type, ...]
    """What a function may return, apart from None."""
    directory: str
    hidden: tuple[str, ...]


async def answer_of(hook: Asked[Heard, Said], terms: Terms[Heard, Said]) -> Said | str | None:
    """Its answer; None if it has nothing to say; or, in words, why it has no vote."""
    try:
        async with asyncio.timeout(hook.timeout):
            return await _answer(hook, terms)
    except TimeoutError:
        return f"no answer within {hook.timeout:g} s"
    except Misunderstood as why:
        return str(why)
    except Exception as error:  # noqa: BLE001  a hook may fail in any way it likes
        return f"{type(error).__name__}: {error}"


async def _answer(hook: Asked[Heard, Said], terms: Terms[Heard, Said]) -> Said | None:
    if isinstance(hook.run, str):
        return terms.understand(*await run_command(hook.run, terms.written, terms.directory, terms.hidden))
    said = await asyncio.to_thread(hook.run, terms.heard) if not _is_async(hook.run) else hook.run(terms.heard)
    said = await said if inspect.isawaitable(said) else said
    if said is not None and not isinstance(said, terms.answers):
        known = " or ".join(kind.__name__ for kind in (*terms.answers, type(None)))
        raise Misunderstood(f"it returned {type(said).__name__}, not a {known.replace('NoneType', 'None')}")
    return said


def _is_async(run: object) -> bool:
    return inspect.iscoroutinefunction(run)
