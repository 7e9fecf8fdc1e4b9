"""How many calls may run at once; the others wait, in order, and have not started."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakKeyDictionary, WeakValueDictionary

import attrs

from states.errors import ConfigError
from states.ports import ToolSpec

_Slots = WeakValueDictionary[tuple[str, str], asyncio.Semaphore]


def _positive(_: object, attribute: "attrs.Attribute[int | None]", value: int | None) -> None:
    if value is not None and value < 1:
        raise ConfigError(f"limits: {attribute.name} must be at least 1, not {value}; None is no limit")


@attrs.frozen(eq=False)
class Limits:
    """Limits on calls that run side by side. None is no limit. Loops of one process that share it share its slots.

    process: over all sessions. session: of each. reads, effects: of calls that declare `read_only`, and of all others,
    over all sessions. tools: of single tools, by name, over all sessions. Calls of agents take no slot: what those then
    call does. Raises ConfigError.
    """

    process: int | None = attrs.field(default=None, validator=_positive)
    session: int | None = attrs.field(default=None, validator=_positive)
    reads: int | None = attrs.field(default=None, validator=_positive)
    effects: int | None = attrs.field(default=None, validator=_positive)
    tools: Mapping[str, int] = attrs.field(factory=dict)
    _loops: "WeakKeyDictionary[asyncio.AbstractEventLoop, _Slots]" = attrs.field(
        factory=WeakKeyDictionary, init=False, repr=False
    )

    def __attrs_post_init__(self) -> None:
        for name, limit in self.tools.items():
            if limit < 1:
                raise ConfigError(f"limits: {name!r} must be allowed at least 1 call, not {limit}")

    @asynccontextmanager
    async def slot(self, session: str, name: str, spec: ToolSpec | None) -> AsyncIterator[None]:
        """Wait for a slot of every kind that the call needs, always in one order: nobody waits for each other."""
        slots = self._loops.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
        async with AsyncExitStack() as held:
            for kind, limit in self._needed(session, name, spec):
                semaphore = slots.get(kind)
                if semaphore is None:
                    semaphore = slots[kind] = asyncio.Semaphore(limit)
                await held.enter_async_context(semaphore)
            yield

    def _needed(self, session: str, name: str, spec: ToolSpec | None) -> Iterator[tuple[tuple[str, str], int]]:
        if spec is not None and spec.delegates:
            return
        reads = spec is not None and spec.read_only
        for kind, limit in (
            (("session", session), self.session),
            (("tool", name), self.tools.get(name)),
            (("kind", "reads" if reads else "effects"), self.reads if reads else self.effects),
            (("process", ""), self.process),
        ):
            if limit is not None:
                yield kind, limit


NO_LIMITS = Limits()
