"""What a layer of the checks raises: the claim that does not hold, and how to get there."""

from collections.abc import Sequence
from typing import Final

from states.errors import InterlockError

LINES: Final = 40
"""Of a longer story the message tells the end; `trace` has it all."""


class Broken(InterlockError):
    """A claim does not hold. `claim` names it, `why` says what was seen, `trace` is the story."""

    def __init__(self, claim: str, why: str, trace: Sequence[str] = ()) -> None:
        self.claim = claim
        self.why = why
        self.trace = tuple(trace)
        told = list(enumerate(self.trace, 1))[-LINES:]
        cut = f"\n  ... {len(self.trace) - LINES} steps before" if len(self.trace) > LINES else ""
        super().__init__(f"{claim}: {why}{cut}" + "".join(f"\n  {number}. {line}" for number, line in told))
