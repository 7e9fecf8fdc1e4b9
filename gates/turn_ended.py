"""turn_ended: the provider has said all it wanted to say.

One that paused gets its own words back and goes on. One that ended in a way that nobody knows, or announced calls
that never came, is asked once more; what it then says counts, whatever it calls its end.
"""

from typing import Final

from states.history import History
from states.messages import Finish
from states.verdicts import Fail, Pass, Retry, Ruling

from .gate import Gate

PAUSES: Final = 20
"""Pauses that are followed, per run (our choice: each is a whole turn of the provider's own tools)."""

MESSAGE: Final = (
    "Your last answer ended in an unusual way, and it contained no tool call. If work is left, go on with it now; "
    "if all is done, give your final answer once more, in full."
)


class TurnEnded(Gate):
    name = "turn_ended"
    may = (Retry, Fail)

    def judge(self, history: History) -> Ruling:
        if history.turn is None or history.calls:
            return Pass()
        if history.turn.finish in (Finish.UNKNOWN, Finish.CALLS) and not history.retries[self.name]:
            return Retry(f"the answer ended with {history.turn.finish_detail!r}", MESSAGE)
        if history.turn.finish is not Finish.PAUSED:
            return Pass()
        if history.retries[self.name] < PAUSES:
            return Retry("the provider paused on the way")
        return Fail("stuck", f"the provider paused {PAUSES} times without coming to an end")


turn_ended: Final = TurnEnded()
