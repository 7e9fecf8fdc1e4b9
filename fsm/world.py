"""The outside of one claimed run: what `Driver.outside` hands to activities and gates."""

from contextlib import AbstractAsyncContextManager

import attrs

from states.messages import Usage
from states.ports import Claim, Clock, Journal, Provider, Toolbox, Workspace

from .limits import NO_LIMITS, Limits
from .providers.prices import Prices, price_of


@attrs.frozen
class World:
    """Implements `states.ports.Outside`."""

    providers: tuple[Provider, ...]
    tools: Toolbox
    workspace: Workspace | None
    clock: Clock
    journal: Journal
    claim: Claim
    prices: Prices = attrs.field(factory=dict)
    limits: Limits = NO_LIMITS

    def cost(self, model: str, usage: Usage) -> float | None:
        price = price_of(model, self.prices)
        return None if price is None else price.of(usage)

    def slot(self, tool: str) -> AbstractAsyncContextManager[None]:
        return self.limits.slot(self.claim.session, tool, self.tools.spec(tool))

    async def confirm(self) -> None:
        await self.journal.confirm(self.claim)
