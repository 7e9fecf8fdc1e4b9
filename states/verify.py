"""verify: evidence for the candidate is gathered: what ran, and on which revision of the workspace."""

from .names import Event
from .ports import Outcome, Run
from .records import Verification


async def act(run: Run) -> Outcome:
    evidence = await run.gather()
    return Outcome((*evidence, Verification(run.history.candidate, await revision(run))), Event.VERIFIED)


async def revision(run: Run) -> str:
    """The workspace's revision where the run owes evidence about it; else empty."""
    if not run.history.contract.owes_evidence:
        return ""
    world = await run.outside()
    return await world.workspace.revision() if world.workspace else ""
