"""What a session is to reach."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from states.history import Goal, History
from states.names import RESTING, State
from states.records import GoalChange, GoalSet, GoalWord

from .basics import need, say

TOLD: Final = (
    "The goal of this session: {}\nWhen you say that you are done, somebody who had no part in the work finds out "
    "whether it is reached."
)


def _goal_set(history: History, seq: int, record: GoalSet) -> None:
    need(history.closing == 0 and history.state is State.PROVIDER_TURN, seq, f"a goal is set in {history.state}")
    need(bool(record.text.strip()), seq, "a goal without words")
    history.goal = Goal(seq, record.text)
    history.verified = {}
    say(history, TOLD.format(record.text))


def _goal_change(history: History, seq: int, record: GoalChange) -> None:
    goal = history.goal
    need(goal is not None and not goal.complete, seq, "a change of no goal that is open")
    need(history.state in RESTING and history.closing == 0, seq, f"a goal changes in {history.state}")
    if record.word is GoalWord.CLEAR or goal is None:
        history.goal = None
    else:
        history.goal = attrs.evolve(goal, paused=record.word is GoalWord.PAUSE)


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {GoalSet: _goal_set, GoalChange: _goal_change}
