"""A chain of providers: the next one is asked where one is down, as long as nothing of an answer was seen."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Final

from states.errors import ConfigError
from states.ports import Provider, ProviderTrouble, Request, RetryNotice, StreamItem
from states.records import Trouble

RETURN: Final = 300.0
"""Seconds for which a provider that was down is passed over (our choice)."""


class Fallback:
    """A `Provider` that asks `providers` in order and moves on from one that is DOWN, with a RetryNotice.

    Every other trouble is final: a request that one refuses is not shopped around, and an answer that broke off was
    seen. One that was down is asked again after `rest` seconds, or when all are. `model` is the first one's name; each
    Reply names the model that gave it. Raises ConfigError for an empty chain.
    """

    def __init__(
        self, providers: Sequence[Provider], *, rest: float = RETURN, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if not providers:
            raise ConfigError("Fallback needs at least one provider")
        self._providers = tuple(providers)
        self._rest = rest
        self._clock = clock
        self._down_until = [0.0] * len(self._providers)

    @property
    def model(self) -> str:
        return self._providers[0].model

    @property
    def secrets(self) -> Sequence[str]:
        return [secret for provider in self._providers for secret in provider.secrets]

    async def close(self) -> None:
        for provider in self._providers:
            await provider.close()

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem]:
        chain = self._chain()
        for attempt, place in enumerate(chain, 1):
            provider = self._providers[place]
            try:
                async with aclosing(provider.stream(request)) as items:
                    async for item in items:
                        yield item
            except ProviderTrouble as trouble:
                if trouble.trouble is not Trouble.DOWN:
                    raise
                self._down_until[place] = self._clock() + self._rest
                if attempt == len(chain):
                    raise
                following = self._providers[chain[attempt]].model
                yield RetryNotice(attempt + 1, 0.0, f"{trouble.message}; {following} is asked instead")
            else:
                return

    def _chain(self) -> list[int]:
        """Places of the providers to ask, those that rest last."""
        now = self._clock()
        return sorted(range(len(self._providers)), key=lambda place: self._down_until[place] > now)
