"""stop_hook: the last objections, and the seal: an input that comes later belongs to the next run.

Everything before is made durable first: a seal that comes too late is refused by the store, and what is refused
with it must not be the model's answer.
"""

from .names import Event
from .ports import Outcome, Run
from .records import StopAnswer, UserInput


async def act(run: Run) -> Outcome:
    await run.outside()
    answers = await run.gather()
    late = await run.inputs()  # after what takes time: the seal comes next
    return Outcome(
        (*late, *answers, StopAnswer(run.history.candidate, _sealed(late, run.history.noted))), Event.ANSWERED
    )


def _sealed(late: tuple[UserInput, ...], noted: int) -> int:
    return max((note.inbox or 0 for note in late), default=noted)
