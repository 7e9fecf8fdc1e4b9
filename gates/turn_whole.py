"""turn_whole: the provider did not cut the turn off. Calls of a cut turn are never run.

Once the requests to go on are used up, a cut turn is a failure, unless a structured output stands: then words that
were cut off are not the result. They still have to pass every other gate.
"""

from typing import Final

from states.history import History
from states.messages import Finish
from states.verdicts import Fail, Pass, Retry, Ruling

from .gate import Gate

RETRIES: Final = 3
"""Truncations answered with a request to go on, per run (blade-code's limit)."""

MESSAGE: Final = (
    "Your last answer was cut off at the output limit. If it contained tool calls, none of them was run. "
    "Go on from where it stopped, without a recap, in smaller pieces."
)


class TurnWhole(Gate):
    name = "turn_whole"
    may = (Retry, Fail)

    def judge(self, history: History) -> Ruling:
        if history.turn is None or history.turn.finish is not Finish.LENGTH:
            return Pass()
        if history.retries[self.name] < RETRIES:
            return Retry("cut off at the output limit", MESSAGE)
        if history.output is not None:
            return Pass("cut off, but the result was handed in before", (history.output.seq,))
        return Fail("truncated", f"the model's answers were cut off at the output limit {RETRIES + 1} times")


turn_whole: Final = TurnWhole()
