"""inputs_answered: every input that arrived reached the model before this candidate.

Asked twice: first of all gates, and again after the last gate that takes time, where the inbox is sealed.
"""

from typing import Final

from states.history import History
from states.verdicts import Pass, Retry, Ruling

from .gate import Gate


class InputsAnswered(Gate):
    name = "inputs_answered"
    may = (Retry,)

    def judge(self, history: History) -> Ruling:
        return Pass() if history.inputs_answered else Retry("a newer input waits for an answer")


class LateInputsAnswered(InputsAnswered):
    name = "late_inputs_answered"


inputs_answered: Final = InputsAnswered()
late_inputs_answered: Final = LateInputsAnswered()
