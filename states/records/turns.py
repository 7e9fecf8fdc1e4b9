"""What came of asking the model."""

from enum import StrEnum

import attrs

from states.messages import Block, Finish, Usage


class Trouble(StrEnum):
    """Why a provider turn gave no answer."""

    DOWN = "down"
    """Unreachable, overloaded or rate limited beyond the patience."""
    CUT = "cut"
    """The stream ended in the middle of the answer."""
    OVERFLOW = "overflow"
    """The conversation does not fit the model's window."""
    REFUSED = "refused"
    """The server said no for good (bad request, key, model)."""


@attrs.frozen
class AssistantTurn:
    """One whole answer of the model. `saw` is the last record that its request contained."""

    blocks: tuple[Block, ...]
    finish: Finish
    saw: int
    model: str = ""
    usage: Usage = Usage()
    epoch: int = 0
    finish_detail: str = ""
    """The provider's own word for `finish`."""
    cost: float | None = None
    """US dollars, at the prices that were known when it was given; None where the model has no price."""


@attrs.frozen
class Spent:
    """What an answer that was not used had cost by then, as far as its provider had said."""

    usage: Usage
    model: str = ""
    cost: float | None = None
    """US dollars, at the prices that were known then; None where the model has no price."""


@attrs.frozen
class TurnFailure:
    """A provider turn without an answer. `status` is the HTTP status, `message` the server's own words."""

    trouble: Trouble
    message: str
    status: int | None = None
    epoch: int = 0
    spent: Spent | None = None


@attrs.frozen
class TurnDiscarded:
    """Whatever the old epoch still delivers is dead."""

    epoch: int
    reason: str


@attrs.frozen
class ProviderChange:
    """From now on the provider at `place` of the chain is asked. What the one before it still delivers is dead."""

    place: int
    epoch: int
    reason: str
    model: str = ""
    """The new one's name."""
