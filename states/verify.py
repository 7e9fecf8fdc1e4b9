"""verify: evidence for the candidate is gathered: what ran, and on which revision of the workspace."""

from .names import Event
from .ports import Outcome, Run
from .records import Finding, Verification


async def act(run: Run) -> Outcome:
    evidence = await run.gather()
    seen = any(isinstance(record, Finding) for record in evidence)
    return Outcome((*evidence, Verification(run.history.candidate, await revision(run, seen=seen))), Event.VERIFIED)


async def revision(run: Run, *, seen: bool = False) -> str:
    """The workspace's revision where success rests on facts about it (`seen`: just found out); else empty."""
    if not (seen or run.history.owes_evidence):
        return ""
    world = await run.outside()
    return await world.workspace.revision() if world.workspace else ""
