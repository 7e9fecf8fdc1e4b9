"""turn_unfiltered: the provider's content filter did not take the answer away."""

from typing import Final

from states.history import History
from states.messages import Finish
from states.verdicts import Fail, Pass, Ruling

from .gate import Gate


class TurnUnfiltered(Gate):
    name = "turn_unfiltered"
    may = (Fail,)

    def judge(self, history: History) -> Ruling:
        if history.turn is None or history.turn.finish is not Finish.FILTERED:
            return Pass()
        return Fail("content_filtered", f"the provider withheld the answer ({history.turn.finish_detail})")


turn_unfiltered: Final = TurnUnfiltered()
