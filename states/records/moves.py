"""How a run moves, rests and ends."""

import attrs

from states.messages import Usage
from states.names import Event, State
from states.verdicts import WaitsFor

from .turns import Spent


@attrs.frozen
class Transition:
    """The move that was made. `rests_on` are the records it spends; no other move may name them."""

    source: State
    event: Event
    target: State
    rests_on: tuple[int, ...] = ()


@attrs.frozen
class Cancellation:
    """Somebody, or a limit, stopped what was going on. `inbox` is the number of the note that asked for it."""

    reason: str = ""
    inbox: int | None = None
    waits_for: WaitsFor = WaitsFor.RESUME
    spent: Spent | None = None
    """Of the answer that was under way."""


@attrs.frozen
class Failed:
    """The run's end, with the reason that does not lie."""

    code: str
    message: str
    gate: str = ""


@attrs.frozen
class Suspended:
    """The run's rest, and what it waits for."""

    waits_for: WaitsFor
    message: str
    gate: str = ""
    summary: str = ""
    """Where things stand, told from the journal, if the run is out of budget."""


@attrs.frozen
class Summary:
    """Where things stand, in the model's words: what a run that is out of budget spent its reserve on."""

    text: str
    model: str = ""
    usage: Usage = Usage()
    cost: float | None = None


@attrs.frozen
class Interruption:
    """The process that worked on the run was lost; another one goes on in the middle of it."""


@attrs.frozen
class Resumed:
    """Work on a resting run goes on."""
