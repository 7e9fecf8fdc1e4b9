"""What a candidate is judged by, and what success rests on."""

import attrs

from states.verdicts import Ruling


@attrs.frozen
class Candidate:
    """A turn that says it is done, put up for judgement."""

    turn: int


@attrs.frozen
class OutputAccepted:
    """A call of the reserved tool handed in a result that fits the schema, whose digest (SHA-256, hex) is named.

    `value` is canonical JSON. `revision` is the workspace's when it was accepted (empty: none, or it moved meanwhile).
    """

    call: str
    schema: str
    value: str
    revision: str = ""


@attrs.frozen
class Evidence:
    """A committed result shows that a command ran. `revision` held before and after it; else it is empty."""

    kinds: tuple[str, ...]
    command: str
    exit_status: int
    revision: str
    result: int


@attrs.frozen
class Finding:
    """What a gate saw in the world, in words. `revision` is the workspace's, if it was the same before and after."""

    gate: str
    holds: bool
    said: str = ""
    revision: str = ""


@attrs.frozen
class Verification:
    """All evidence for the candidate is in. `revision` is the workspace's now (empty: not asked for)."""

    candidate: int
    revision: str = ""


@attrs.frozen
class StopAnswer:
    """The last objections are in. `sealed` is the inbox number up to which inputs belong to this run."""

    candidate: int
    sealed: int


@attrs.frozen
class Finalized:
    """The receipt: what success rests on, by sequence number."""

    candidate: int
    text: str
    verdicts: tuple[int, ...] = ()
    evidence: tuple[int, ...] = ()
    revision: str = ""
    goal: str = ""
    """Digest (SHA-256, hex) of what shows that the session's goal is reached (empty: it has none that is open)."""


@attrs.frozen
class Verdict:
    """What a gate ruled, from committed records alone."""

    gate: str
    ruling: Ruling
