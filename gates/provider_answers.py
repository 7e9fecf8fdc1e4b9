"""provider_answers: what a failed provider turn means for the run."""

from typing import Final

from states.history import History
from states.records import Trouble
from states.verdicts import Fail, Pass, Retry, Ruling, Suspend, WaitsFor

from .gate import Gate

RETRIES: Final = 3
"""Answers that broke off in the middle and are asked for again, per run."""


class ProviderAnswers(Gate):
    name = "provider_answers"
    may = (Retry, Fail, Suspend)

    def judge(self, history: History) -> Ruling:
        failure = history.trouble
        if failure is None:
            return Pass()
        match failure.trouble:
            case Trouble.CUT if history.retries[self.name] < RETRIES:
                return Retry(failure.message)
            case Trouble.CUT | Trouble.DOWN:
                return Suspend(WaitsFor.PROVIDER, failure.message)
            case Trouble.REFUSED | Trouble.OVERFLOW:
                return Fail("api_error", failure.message)


provider_answers: Final = ProviderAnswers()
