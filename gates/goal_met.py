"""goal_met: the session's goal is reached. Somebody who had no part in the work says so, about this very candidate.

It is asked last. A refusal of a stop hook, newer words and a change of the workspace make every word before it void.
"""

from typing import Final

from states.history import History
from states.records import Record
from states.stopping import GOAL_MET
from states.verdicts import Pass, Retry, Ruling, Suspend, WaitsFor

from .gate import Gate, OpenOutside
from .independently_verified import RETRIES, done_here, look, ruling
from .stop_allowed import refusal_of


class GoalMet(Gate):
    name = GOAL_MET
    may = (Retry, Suspend)

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        """Nobody looks at what goes back to the model anyway."""
        refused = refusal_of(history) is not None or not history.inputs_answered
        return () if refused or not history.pursues_goal else await look(self.name, history, outside, brief, anew=True)

    def judge(self, history: History) -> Ruling:
        return ruling(self.name, history, _blocked, "the goal's verifier") if history.pursues_goal else Pass()


def _blocked(why: str) -> Ruling:
    return Suspend(
        WaitsFor.ANSWER,
        f"the goal is not reached, after {RETRIES} corrections: {why}. Say how to go on, or give it up.",
    )


def brief(history: History) -> str:
    """What the verifier is asked: whether the goal's own text holds. Nothing that the model says reaches it."""
    text = history.goal.text if history.goal else ""
    head = "Work has been done in this workspace. Find out whether this goal is reached, by evidence of your own:"
    return "\n\n".join((head, f"<goal>\n{text}\n</goal>", *done_here(history)))


goal_met: Final = GoalMet()
