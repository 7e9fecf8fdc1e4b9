"""How a run moves, rests and ends."""

import attrs

from states.names import Event, State
from states.verdicts import WaitsFor


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


@attrs.frozen
class Resumed:
    """Work on a resting run goes on."""
