"""finalize: the receipt is written. It names what success rests on; a gate checks that it holds."""

from .goals import evidence_digest
from .history import History
from .names import Event
from .ports import Outcome, Run
from .records import Finalized
from .verdicts import Pass
from .verify import revision


async def act(run: Run) -> Outcome:
    seen = bool(run.history.stopped_on)
    return Outcome((receipt(run.history, await revision(run, seen=seen)),), Event.FINALIZED)


def receipt(history: History, revision: str) -> Finalized:
    """What the candidate's success rests on, from committed records alone."""
    passed = [(seq, ruling) for seq, ruling in history.verdicts.values() if isinstance(ruling, Pass)]
    return Finalized(
        history.candidate,
        history.answer,
        tuple(sorted(seq for seq, _ in passed)),
        tuple(sorted({cited for _, ruling in passed for cited in ruling.cites})),
        revision,
        evidence_digest(history),
    )
