"""questions_answered: nothing that a tool showed to a person waits for their answer. Their next words are one."""

from typing import Final

from states.history import History
from states.verdicts import Pass, Ruling, Suspend

from .gate import Gate

SHOWN: Final = 2000
"""Characters of what is asked that the rest repeats; the result that asks has all of it (our choice)."""


class QuestionsAnswered(Gate):
    name = "questions_answered"
    may = (Suspend,)

    def judge(self, history: History) -> Ruling:
        if not history.questions:
            return Pass()
        first = history.questions[0]
        left = "" if len(first.shows) <= SHOWN else f" [... all of it is in record {first.result}]"
        return Suspend(first.waits_for, first.shows[:SHOWN] + left)


questions_answered: Final = QuestionsAnswered()
