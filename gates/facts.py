"""Guards that only look. They tell alternatives apart; none of them can be what a success rests on."""

from typing import Final

from states.history import History
from states.output import STRUCTURED_OUTPUT

from .gate import Fact


def _only_output(history: History) -> bool:
    """The turn asks for nothing but to hand in the output: it is the model's last, if that is taken."""
    names = {state.call.name for state in history.calls.values()}
    return bool(history.contract.output_schema) and names == {STRUCTURED_OUTPUT}


asks_for_tools: Final = Fact("asks_for_tools", lambda history: history.unanswered > 0 and not _only_output(history))
hands_in_output: Final = Fact("hands_in_output", lambda history: history.unanswered > 0 and _only_output(history))
says_done: Final = Fact("says_done", lambda history: history.turn is not None and not history.calls)
intents_committed: Final = Fact(
    "intents_committed",
    lambda history: all(state.intent is not None for state in history.open_calls()),
)
calls_answered: Final = Fact("calls_answered", lambda history: history.unanswered == 0)
output_handed_in: Final = Fact(
    "output_handed_in",
    lambda history: not history.unanswered and history.output_of_turn and _only_output(history),
)
work_goes_on: Final = Fact(
    "work_goes_on",
    lambda history: not history.unanswered and not (history.output_of_turn and _only_output(history)),
)
calls_open: Final = Fact("calls_open", lambda history: history.unanswered > 0)
