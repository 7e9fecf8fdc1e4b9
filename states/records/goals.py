"""What a session is to reach, beyond one run's end."""

from enum import StrEnum

import attrs


@attrs.frozen
class GoalSet:
    """From here on the session is to reach this; another goal before it is given up."""

    text: str


class GoalWord(StrEnum):
    """What a person says of a goal."""

    PAUSE = "pause"
    """It is not asked for until it is taken up again."""
    RESUME = "resume"
    CLEAR = "clear"
    """It is given up."""


@attrs.frozen
class GoalChange:
    word: GoalWord
