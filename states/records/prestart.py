"""What became of calls that started before their turn was committed."""

import attrs

from .calls import Status


@attrs.frozen
class Prestart:
    """A call of an answer that is still being streamed is about to start; the intent of a turn that may never come.

    Only what reads and may run beside others starts so. `call` is the id that the call has if its turn is committed,
    `order` its place among the turn's calls; the record's own sequence number makes the idempotency key.
    """

    call: str
    name: str
    arguments: str
    """Canonical JSON (sorted keys)."""
    order: int
    epoch: int = 0


@attrs.frozen
class Fate:
    """What became of one `Prestart`, by its sequence number: cancelled, or unknown if its process was lost."""

    intent: int
    status: Status
    note: str = ""


@attrs.frozen
class PrestartsDropped:
    """The turn of these calls does not come: their results are dead, and a new epoch begins."""

    epoch: int
    reason: str
    fates: tuple[Fate, ...]
