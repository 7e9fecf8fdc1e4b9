"""The outside of one claimed run: what `Driver.outside` hands to activities and gates."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import attrs

from states.history import History
from states.messages import Usage
from states.ports import Claim, Clock, Hooks, Journal, Provider, Toolbox, ToolOutput, ToolRun, Verifier, Workspace
from states.records import JSON, HookResult

from .limits import NO_LIMITS, Limits
from .providers.prices import Prices, price_of


@attrs.frozen
class NoHooks:
    """Nobody has anything to say."""

    def watches(self, name: str) -> bool:
        return False

    async def before(self, session: str, call: str, name: str, arguments: dict[str, JSON]) -> tuple[HookResult, ...]:
        return ()

    async def after(self, run: ToolRun, output: ToolOutput) -> ToolOutput:
        return output

    async def stopping(self, history: History) -> tuple[HookResult, ...]:
        return ()


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
    hooks: Hooks = attrs.field(factory=NoHooks)
    verifier: Verifier | None = None
    outputs: Path | None = None
    """The folder that takes the whole of outputs that are too long to show."""

    def cost(self, model: str, usage: Usage) -> float | None:
        price = price_of(model, self.prices)
        return None if price is None else price.of(usage)

    async def call(self, run: ToolRun) -> ToolOutput:
        from .router import call  # here, so that `import fsm` stays light

        return await call(run, self.tools, self.hooks, self.outputs)

    async def recall(self, run: ToolRun) -> ToolOutput | None:
        from .router import recall

        return await recall(run, self.tools, self.outputs)

    def slot(self, tool: str) -> AbstractAsyncContextManager[None]:
        return self.limits.slot(self.claim.session, tool, self.tools.spec(tool))

    async def confirm(self) -> None:
        await self.journal.confirm(self.claim)
