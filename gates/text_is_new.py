"""text_is_new: the candidate does not say the same thing for the third time."""

from typing import Final

from states.history import History
from states.verdicts import Fail, Pass, Retry, Ruling

from .gate import Gate

SAME: Final = 3
"""Equal finals in a row that count as standing still (blade-code's window)."""
RETRIES: Final = 2
"""Requests for another strategy, per run."""

MESSAGE: Final = (
    "You have given the same final answer several times, and something is still missing. "
    "Change your strategy: do something different, or explain what stops you."
)


class TextIsNew(Gate):
    name = "text_is_new"
    may = (Retry, Fail)

    def judge(self, history: History) -> Ruling:
        if history.same_text < SAME * (history.retries[self.name] + 1):
            return Pass()
        if history.retries[self.name] < RETRIES:
            return Retry("the same final answer again", MESSAGE)
        return Fail("stuck", f"the model gave the same final answer {history.same_text} times")


text_is_new: Final = TextIsNew()
