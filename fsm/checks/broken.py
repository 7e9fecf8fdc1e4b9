"""What a layer of the checks raises: the claim that does not hold, and how to get there."""

from collections.abc import Sequence

from states.errors import InterlockError


class Broken(InterlockError):
    """A claim does not hold. `claim` names it, `why` says what was seen, `trace` is the story."""

    def __init__(self, claim: str, why: str, trace: Sequence[str] = ()) -> None:
        self.claim = claim
        self.why = why
        self.trace = tuple(trace)
        story = "".join(f"\n  {number}. {line}" for number, line in enumerate(self.trace, 1))
        super().__init__(f"{claim}: {why}{story}")
