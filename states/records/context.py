"""What was done to keep the conversation within the model's window."""

from enum import StrEnum

import attrs

from states.messages import Usage


class Cause(StrEnum):
    """Why a conversation is compacted."""

    THRESHOLD = "threshold"
    """It has come near the end of the window."""
    OVERFLOW = "overflow"
    """A request did not fit."""
    ASKED = "asked"
    """A person asked for it."""


class How(StrEnum):
    """What replaces what came before."""

    TRIMMED = "trimmed"
    """Nothing but shortened output of old tool calls."""
    LEDGER = "ledger"
    """A ledger that the model wrote."""
    OUTLINE = "outline"
    """An outline made without the model."""


@attrs.frozen
class Compaction:
    """A checkpoint: for the model, `summary` stands for the first `dropped` messages. The journal keeps them all.

    Outputs of the calls in `trimmed` are shortened to about `keep` characters. `before` and `after` are tokens,
    estimated where no provider has counted them.
    """

    cause: Cause
    how: How
    dropped: int = 0
    summary: str = ""
    trimmed: tuple[str, ...] = ()
    keep: int = 0
    before: int = 0
    after: int = 0
    usage: Usage = Usage()
    model: str = ""
    cost: float | None = None
    """US dollars, if the price is known."""


@attrs.frozen
class CompactionFailure:
    """A ledger could not be had; the conversation is as it was."""

    cause: Cause
    message: str
    usage: Usage = Usage()
    model: str = ""
    cost: float | None = None
