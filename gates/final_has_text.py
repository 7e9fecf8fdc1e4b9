"""final_has_text: the candidate says something, or has handed in an output."""

from typing import Final

from states.history import History
from states.verdicts import Fail, Pass, Retry, Ruling

from .gate import Gate

RETRIES: Final = 1
"""Blank finals that are corrected, per run (blade-code's limit)."""

MESSAGE: Final = "Your final answer was empty. Give a non-empty answer; use tools only if work is left to do."


class FinalHasText(Gate):
    name = "final_has_text"
    may = (Retry, Fail)

    def judge(self, history: History) -> Ruling:
        if history.answer.strip():
            return Pass()
        if history.retries[self.name] < RETRIES:
            return Retry("the final answer is empty", MESSAGE)
        return Fail("empty_final", "the model ended without an answer")


final_has_text: Final = FinalHasText()
