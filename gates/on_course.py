"""on_course: every few turns the model is asked to look at where it stands. It never objects."""

from typing import Final

from states.history import History
from states.verdicts import Pass, Ruling

from .gate import Gate

EVERY: Final = 5
"""Turns from one review to the next (blade-code's interval)."""

HINT: Final = (
    "A moment to check yourself: Are you still working on what was asked? What is left to do? "
    "Is what you are doing now the shortest way there? Then go on."
)


class OnCourse(Gate):
    name = "on_course"
    may = ()

    def judge(self, history: History) -> Ruling:
        due = history.turns - history.hints.get(self.name, 0) >= EVERY
        return Pass(hint=HINT) if due else Pass()


on_course: Final = OnCourse()
