"""candidate_final: the model's last turn is put up for judgement, with every input that arrived meanwhile."""

from .names import Event
from .ports import Outcome, Run
from .records import Candidate


async def act(run: Run) -> Outcome:
    records = (*await run.inputs(), *await run.gather())
    return Outcome((*records, Candidate(run.history.turn_seq)), Event.SUBMITTED)
