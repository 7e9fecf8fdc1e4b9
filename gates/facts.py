"""Guards that only look. They tell alternatives apart; none of them can be what a success rests on."""

from typing import Final

from .gate import Fact

asks_for_tools: Final = Fact("asks_for_tools", lambda history: history.unanswered > 0)
says_done: Final = Fact("says_done", lambda history: history.turn is not None and not history.calls)
intents_committed: Final = Fact(
    "intents_committed",
    lambda history: all(state.intent is not None for state in history.open_calls()),
)
calls_answered: Final = Fact("calls_answered", lambda history: history.unanswered == 0)
calls_open: Final = Fact("calls_open", lambda history: history.unanswered > 0)
