"""window_left: before the conversation is compacted the model is told, so that it can bring things to an order.

It never objects.
"""

from typing import Final

from states.context import HINT_AT, tokens_of
from states.history import History
from states.verdicts import Pass, Ruling

from .gate import Gate

HINT: Final = (
    "The conversation is getting long and will soon be replaced by a ledger. Bring the step you are at to a good end, "
    "and state what has to survive: what is decided, what is done and verified, what comes next."
)


class WindowLeft(Gate):
    name = "window_left"
    may = ()

    def judge(self, history: History) -> Ruling:
        """Told once for each compaction."""
        if history.window is None or history.hints.get(self.name, 0) > history.compacted_on:
            return Pass()
        return Pass(hint=HINT) if tokens_of(history) >= HINT_AT * history.window else Pass()


window_left: Final = WindowLeft()
