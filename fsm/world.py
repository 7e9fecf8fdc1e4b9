"""The outside of one claimed run: what `Driver.outside` hands to activities and gates."""

import attrs

from states.messages import Usage
from states.ports import Claim, Clock, Journal, Provider, Toolbox, Workspace

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

    def cost(self, model: str, usage: Usage) -> float | None:
        price = price_of(model, self.prices)
        return None if price is None else price.of(usage)

    async def confirm(self) -> None:
        await self.journal.confirm(self.claim)
