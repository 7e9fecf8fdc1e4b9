"""actions_progress: the model does not repeat the same calls, with the same results, over and over.

Cycles count too (see `states.actions`). A call whose result changes, such as a look at something that is still going
on, is progress; so is anything new that a person says.
"""

from typing import Final

from states.history import History
from states.verdicts import Fail, Pass, Ruling

from .gate import Gate

WARN: Final = 8
"""Batches in a row without anything new, after which the model is told (blade-code's limit)."""
HALT: Final = 16
"""Batches in a row without anything new, after which the run is stuck (blade-code's limit)."""

HINT: Final = (
    "You keep repeating the same calls, and their results do not change. To wait for something, make one call that "
    "waits for it, with a sensible time limit; else do something different, or report what stops you."
)


class ActionsProgress(Gate):
    name = "actions_progress"
    may = (Fail,)

    def judge(self, history: History) -> Ruling:
        still = history.actions.still
        if still >= HALT:
            return Fail(
                "stuck", f"the model made the same calls {still} times in a row, and their results did not change"
            )
        return Pass(hint=HINT) if still == WARN else Pass()


actions_progress: Final = ActionsProgress()
