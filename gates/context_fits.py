"""context_fits: the conversation fits the model's window. One that does not is compacted and sent once more."""

from typing import Final

from states.context import plan
from states.history import History
from states.records import Cause, Trouble
from states.verdicts import Fail, Pass, Retry, Ruling

from .gate import Gate


class ContextFits(Gate):
    name = "context_fits"
    may = (Retry, Fail)

    def judge(self, history: History) -> Ruling:
        """Once until the next good turn, or until a person resumes the run."""
        failure = history.trouble
        if failure is None or failure.trouble is not Trouble.OVERFLOW:
            return Pass()
        if history.overflows > 1:
            return Fail("context_overflow", f"{failure.message} (after compaction, too)")
        if plan(history, Cause.OVERFLOW) is None:
            return Fail("context_overflow", f"{failure.message} (there is nothing to compact)")
        return Retry(failure.message)


context_fits: Final = ContextFits()
