"""The outside of one claimed run: what `Driver.outside` hands to activities and gates."""

import attrs

from states.ports import Claim, Clock, Journal, Provider, Toolbox, Workspace


@attrs.frozen
class World:
    """Implements `states.ports.Outside`."""

    provider: Provider
    tools: Toolbox
    workspace: Workspace | None
    clock: Clock
    journal: Journal
    claim: Claim

    async def confirm(self) -> None:
        await self.journal.confirm(self.claim)
