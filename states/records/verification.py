"""What somebody who had no part in the work says about it."""

from enum import StrEnum

import attrs

from states.messages import Usage


class Judgement(StrEnum):
    """What a verifier says, in its one line."""

    PASS = "pass"  # noqa: S105  a word, no secret
    FAIL = "fail"
    PARTIAL = "partial"
    """It works, and something is left to be repaired."""
    NONE = "none"
    """It said nothing that counts."""


@attrs.frozen
class VerifierStarted:
    """A verifier begins, in a session of its own, to look at `candidate` on the workspace's `revision`."""

    gate: str
    session: str
    candidate: int
    revision: str


@attrs.frozen
class VerifierResult:
    """What it says. `revision` is the workspace's, if it was the same before and after; else it is empty.

    `said` is its report, `unavailable` why there is none. `usage` is what it has used up.
    """

    gate: str
    session: str
    judgement: Judgement
    said: str = ""
    revision: str = ""
    usage: Usage = Usage()
    unavailable: str = ""
    cost: float = 0.0
    """US dollars, as far as prices were known."""
