"""turn_ended: the provider has said all it wanted to say. One that paused gets its own words back and goes on."""

from typing import Final

from states.history import History
from states.messages import Finish
from states.verdicts import Fail, Pass, Retry, Ruling

from .gate import Gate

PAUSES: Final = 20
"""Pauses that are followed, per run (our choice: each is a whole turn of the provider's own tools)."""


class TurnEnded(Gate):
    name = "turn_ended"
    may = (Retry, Fail)

    def judge(self, history: History) -> Ruling:
        if history.turn is None or history.turn.finish is not Finish.PAUSED or history.unanswered:
            return Pass()
        if history.retries[self.name] < PAUSES:
            return Retry("the provider paused on the way")
        return Fail("stuck", f"the provider paused {PAUSES + 1} times without coming to an end")


turn_ended: Final = TurnEnded()
