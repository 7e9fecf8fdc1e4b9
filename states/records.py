"""Everything a run leaves behind. Nouns, frozen, one tagged union.

A sequence number (`int` fields named after what they point to) names another record of the same session.
Adding a kind or a defaulted field keeps old journals readable; anything else needs a migration in `codec`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import attrs

from .contract import Budget, Contract, Permission
from .messages import Block, Finish, Image, Usage
from .names import Event, State
from .verdicts import Ruling, WaitsFor

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
Metadata = Mapping[str, JSON]


class Source(StrEnum):
    """Where words for the model came from."""

    INPUT = "input"
    STEERING = "steering"


class Status(StrEnum):
    """What became of a call, in words that stay true."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"
    """It was started, and nobody can say whether it happened."""


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
class RunStarted:
    """A run begins; what it was configured with is pinned by digests (SHA-256, hex)."""

    run: int
    graph: str
    tools: str
    model: str
    system: str = ""
    workspace: str = ""
    contract: Contract = Contract()
    budget: Budget = Budget()
    permission: Permission = Permission.FULL
    tool_names: tuple[str, ...] = ()
    """The tools that the model is offered, by name."""
    revisions: bool = False
    """There is a workspace, to whose revision evidence can be bound."""


@attrs.frozen
class UserInput:
    """Words for the model. `inbox` is the inbox number of an input that another process posted."""

    text: str
    source: Source = Source.INPUT
    inbox: int | None = None


@attrs.frozen
class Understood:
    """What the last input asks for, beyond what is declared: checks to run, in the words that say so.

    `waived` are checks that are not to be run. `not_owed` says why the run cannot owe the kinds (empty: it does).
    """

    kinds: tuple[str, ...]
    phrases: tuple[str, ...]
    waived: tuple[str, ...] = ()
    not_owed: str = ""


@attrs.frozen
class Baseline:
    """What a gate has to remember of the world as it was before the run."""

    gate: str
    data: Metadata


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


@attrs.frozen
class TurnFailure:
    """A provider turn without an answer. `status` is the HTTP status, `message` the server's own words."""

    trouble: Trouble
    message: str
    status: int | None = None
    epoch: int = 0


@attrs.frozen
class TurnDiscarded:
    """Whatever the old epoch still delivers is dead."""

    epoch: int
    reason: str


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


@attrs.frozen
class Settlement:
    """Every call of the turn is answered."""

    turn: int


@attrs.frozen
class ApprovalAsked:
    """A call waits for a person. The approval is for exactly these arguments."""

    call: str
    name: str
    arguments: str


@attrs.frozen
class Approval:
    """A person's answer to `ApprovalAsked`."""

    call: str
    granted: bool
    reason: str = ""


@attrs.frozen
class PermissionChange:
    permission: Permission
    reason: str = ""


@attrs.frozen
class BudgetChange:
    """What the run may spend from now on, counted from its start."""

    budget: Budget


@attrs.frozen
class Candidate:
    """A turn that says it is done, put up for judgement."""

    turn: int


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


@attrs.frozen
class Verdict:
    """What a gate ruled, from committed records alone."""

    gate: str
    ruling: Ruling


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


Record = (
    RunStarted
    | UserInput
    | Understood
    | Baseline
    | AssistantTurn
    | TurnFailure
    | TurnDiscarded
    | ToolIntent
    | Dispatch
    | ToolResult
    | Settlement
    | ApprovalAsked
    | Approval
    | PermissionChange
    | BudgetChange
    | Candidate
    | Evidence
    | Finding
    | Verification
    | StopAnswer
    | Finalized
    | Verdict
    | Transition
    | Cancellation
    | Failed
    | Suspended
    | Resumed
)


CLOSING: Final[Mapping[type, Event]] = {
    AssistantTurn: Event.REPLIED,
    TurnFailure: Event.TURN_FAILED,
    Dispatch: Event.DISPATCHED,
    Settlement: Event.SETTLED,
    Candidate: Event.SUBMITTED,
    Verification: Event.VERIFIED,
    StopAnswer: Event.ANSWERED,
    Finalized: Event.FINALIZED,
    Cancellation: Event.CANCELLED,
    Resumed: Event.RESUMED,
}
"""The record that ends an activity is its event: there is no other way to say that something happened."""


@attrs.frozen
class Entry:
    """A record in its place. `at` is seconds since the epoch; `fence` is the number of the claim that wrote it."""

    seq: int
    at: float
    fence: int
    record: Record
