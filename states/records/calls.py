"""What became of the calls of a turn."""

from enum import StrEnum

import attrs

from states.messages import Image

from .values import Metadata


class Status(StrEnum):
    """What became of a call, in words that stay true."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"
    """It was started, and nobody can say whether it happened."""


@attrs.frozen
class ToolIntent:
    """A call is about to start. Its own sequence number makes the idempotency key."""

    call: str
    name: str
    arguments: str
    """Canonical JSON (sorted keys)."""
    order: int
    epoch: int = 0
    read_only: bool = False
    """The tool declares that running it changes nothing."""
    shared: bool = False
    """It may run beside its neighbours; any other call starts only when the results before it are committed."""
    leave: str = ""
    """Why it may start without a person: a rule as `allow bash(git *)`, the permission, or that it only reads."""


@attrs.frozen
class Dispatch:
    """Every call of the turn now has an intent, an answer, or a question to a person."""

    turn: int


@attrs.frozen
class ToolResult:
    """The one answer to one call. `duration` in seconds."""

    call: str
    status: Status
    output: str
    metadata: Metadata = attrs.field(factory=dict)
    duration: float = 0.0
    epoch: int = 0
    images: tuple[Image, ...] = ()
    asks: str = ""
    """What is shown to a person, who has to answer before the run goes on. Empty: nothing."""


@attrs.frozen
class Settlement:
    """Every call of the turn is answered."""

    turn: int


class HookOutcome(StrEnum):
    """What a hook of the host answered."""

    PASSED = "passed"
    CHANGED = "changed"
    ASKED = "asked"
    DENIED = "denied"
    FAILED = "failed"
    """It broke off, took too long, or said nothing that can be understood: it has no vote."""


@attrs.frozen
class HookResult:
    """What a hook answered about a call that is about to start, a run that is about to stop, or a session.

    It counts once it is here. `said` is its reason, or the warning if it failed; `arguments` (canonical JSON) replace
    the call's (empty: none). `duration` in seconds. About a stop: `call` is empty, `candidate` is what was put up, and
    `revision` the workspace's when the last hook had answered (empty: there is none). About a session, or what is
    said to it, `said` is what the model is told besides.
    """

    call: str
    event: str
    hook: str
    outcome: HookOutcome
    said: str = ""
    arguments: str = ""
    duration: float = 0.0
    candidate: int = 0
    revision: str = ""


@attrs.frozen
class ApprovalAsked:
    """A call waits for a person. The approval is for exactly these arguments."""

    call: str
    name: str
    arguments: str
    why: str = ""
    """What asks for it: a rule or the permission."""


@attrs.frozen
class Approval:
    """A person's answer to `ApprovalAsked`."""

    call: str
    granted: bool
    reason: str = ""


@attrs.frozen
class PlanReview:
    """A person's answer to the plan that result `plan` handed over."""

    plan: int
    approved: bool
    comments: str = ""
