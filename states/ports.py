"""The outside world as the states see it: protocols and plain values, no client, no disk, no clock of its own."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import attrs

from .ahead import Ahead
from .history import History
from .messages import Block, Call, Finish, Image, Message, Usage
from .names import Event
from .records import JSON, Cause, Entry, HookResult, Judgement, Metadata, Record, Spent, Status, Trouble, UserInput
from .rules import Permit

# --- the provider -----------------------------------------------------------------------------------------------


@attrs.frozen
class ToolSpec:
    """What the model and the loop know about a tool. `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, JSON]
    read_only: bool = False
    """Running it changes nothing, so a lost run may be repeated."""
    concurrency_safe: bool = False
    """It may run beside others of the same turn; any other tool is a barrier."""
    idempotent: bool = False
    """Running it again with the same key has the effect of running it once."""
    reconcilable: bool = False
    """The tool can tell by its key whether it happened."""
    delegates: bool = False
    """It has agents work, whose own calls are asked for one by one: calling it needs no approval of its own."""
    deferred: bool = False
    """Its schema is sent only once the model has loaded it; until then it is told by its name."""
    returns: Mapping[str, JSON] | None = None
    """A JSON Schema that its results fit: their text is JSON, or they are errors. None: text."""
    reads: Callable[[Mapping[str, JSON]], bool] | None = attrs.field(default=None, eq=False, repr=False)
    """Tells of arguments that fit the schema whether this very call only reads, though others of the tool may not."""

    def changes_nothing(self, arguments: JSON) -> bool:
        """Whether a call with these arguments is declared to change nothing."""
        return self.read_only or (self.reads is not None and isinstance(arguments, dict) and self.reads(arguments))


@attrs.frozen
class Request:
    """One provider turn's input. `messages` grows at its end and keeps the identity of its members."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    require_tool: str | None = None
    session: str = ""
    told: Callable[[Usage, str], None] | None = attrs.field(default=None, eq=False, repr=False)
    """Is told what a stream that ends without its Reply had used up, by which model: all attempts together. A provider
    that was told nothing by its server does not call it."""


@attrs.frozen
class TextDelta:
    text: str


@attrs.frozen
class ReasoningDelta:
    text: str


@attrs.frozen
class CallReady:
    """A call of the answer is complete, as it was sent, while the answer goes on. It carries the provider's id only.

    order: its place among the calls of the answer. They come in that order, each at most once; the Reply holds all.
    """

    order: int
    call: Call


@attrs.frozen
class RetryNotice:
    """The provider was asked again, or will be in `delay` seconds. Nothing of an answer had been seen."""

    attempt: int
    delay: float
    message: str


@attrs.frozen
class CompactionNotice:
    """The model is asked for a ledger that stands for what came before."""

    cause: Cause


@attrs.frozen
class Reply:
    """The whole answer: the last item of a provider's stream. Calls carry the provider's ids only."""

    blocks: tuple[Block, ...]
    finish: Finish
    usage: Usage = Usage()
    model: str = ""
    finish_detail: str = ""


StreamItem = TextDelta | ReasoningDelta | CallReady | RetryNotice | Reply


class ProviderTrouble(Exception):
    """A turn that gave no whole answer, as a value to commit. Adapters raise nothing else for the far side's faults."""

    def __init__(self, trouble: Trouble, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message
        self.status = status


class Provider(Protocol):
    """A model behind a wire. One instance may serve many sessions at once."""

    @property
    def model(self) -> str: ...

    @property
    def secrets(self) -> Sequence[str]:
        """Strings that must never be stored or shown."""

    def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        """Deltas and calls, then exactly one Reply. Raises ProviderTrouble. Closing it ends the connection."""

    async def close(self) -> None: ...


# --- tools ------------------------------------------------------------------------------------------------------


class Caller(Protocol):
    """The run that a tool belongs to, for tools that run loops of their own."""

    @property
    def history(self) -> History: ...

    async def commit(self, *records: Record) -> None:
        """Make records durable in the caller's journal."""


@attrs.frozen
class ToolRun:
    """One start of a tool. `key` is `{session}:{intent sequence}`: the same for every start of the same intent."""

    name: str
    arguments: Mapping[str, JSON]
    key: str
    progress: Callable[[str], None] = attrs.field(default=lambda _: None, eq=False)
    caller: Caller | None = attrs.field(default=None, eq=False, repr=False)


@attrs.frozen
class ToolOutput:
    """What a tool left: text for the model, data for the gates (for a command: `command`, `exit_status`)."""

    status: Status
    text: str
    metadata: Metadata = attrs.field(factory=dict)
    images: tuple[Image, ...] = ()
    asks: str = ""
    """What a person has to confirm or answer before the run goes on."""


class Toolbox(Protocol):
    """The tools of a run, by name."""

    @property
    def specs(self) -> Sequence[ToolSpec]: ...

    def spec(self, name: str) -> ToolSpec | None: ...

    def complaint(self, name: str, arguments: JSON) -> str | None:
        """Why these parsed arguments cannot be taken (unknown tool, schema; names the path), or None."""

    async def run(self, run: ToolRun) -> ToolOutput:
        """Run it. A tool's own fault is an output with status ERROR, never an exception.

        On cancellation everything it started is stopped before CancelledError leaves; what it had
        printed so far may be returned instead, with status CANCELLED.
        """

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        """What became of an earlier start with this key: its output; None if running it (again) is right, because it
        certainly did not happen or because running it twice is what it is for.

        An output with status UNKNOWN says that even the tool cannot tell.
        """


# --- the rest ---------------------------------------------------------------------------------------------------


class Workspace(Protocol):
    async def revision(self) -> str:
        """Digest of the content (hex); equal digests mean that nothing relevant changed."""


@attrs.frozen
class Opinion:
    """What a verifier says. `unavailable` is why it says nothing."""

    judgement: Judgement
    said: str = ""
    usage: Usage = Usage()
    unavailable: str = ""
    cost: float = 0.0
    """US dollars, as far as prices were known."""


class Verifier(Protocol):
    """Somebody who had no part in the work and looks at it."""

    async def opinion(self, caller: History, session: str, prompt: str) -> Opinion:
        """Have it look, in a session of its own; one of that name which was begun before goes on, or has the answer.

        `caller`: the run whose work it is. Its own failure is an Opinion that says so, never an exception.
        """


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> float:
        """Seconds since the epoch, for people and records."""

    def monotonic(self) -> float:
        """Seconds that never go back, for durations."""

    async def sleep(self, seconds: float) -> None: ...


class Ids(Protocol):
    def session(self) -> str:
        """A new session's name."""


# --- the journal ------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Claim:
    """The right to append to one session, until somebody makes a newer one. `fence` grows with every claim."""

    session: str
    fence: int
    next_seq: int
    """Sequence number of the next record; the first of a session is 1."""
    digest: bytes
    """Digest of the last entry: the chain goes on from here."""
    lost: bool = False
    """Whoever had the session before never gave it back: what they were to tell somebody may not have been heard."""


@attrs.frozen
class Draft:
    """An entry, encoded before it is queued. Inputs numbered above `seals` make the store refuse it (Unsealed)."""

    entry: Entry
    kind: str
    body: bytes
    seals: int | None = None


@attrs.frozen
class Note:
    """Something another process wants of a session: an input for the model, or (text None) a cancellation."""

    number: int
    session: str
    text: str | None
    at: float


@attrs.frozen
class FollowUp:
    """Words that wait until the session's run has succeeded, and then begin the next one.

    `id` is the poster's: the same id is queued once. `number` orders them.
    """

    number: int
    session: str
    id: str
    text: str
    at: float


@attrs.frozen
class Stored:
    """An entry as the store keeps it, to the byte. `digest` is the chain's, of the session that it was read from."""

    seq: int
    fence: int
    kind: str
    at: float
    body: bytes
    digest: bytes = b""


@attrs.frozen
class SessionInfo:
    session: str
    fence: int
    entries: int
    created: float
    updated: float
    owner: str
    """Who runs it now (empty: nobody)."""


class Journal(Protocol):
    """Append-only, fenced, durable. All methods may be called from any task of one event loop."""

    async def claim(self, session: str, *, create: bool = False) -> Claim:
        """Take the session over. Raises SessionBusy while another claim is held, UnknownSession, JournalUnusable."""

    async def append(self, claim: Claim, drafts: Sequence[Draft]) -> None:
        """All or nothing, durable on return. Once queued it cannot be cancelled.

        Raises Fenced or Unsealed (nothing was written), CommitFailed (unknown: stop, reopen, re-read),
        JournalUnusable (nothing was written: full, read-only).
        """

    async def confirm(self, claim: Claim) -> None:
        """Check, just before a side effect, that the claim is still the newest. Raises Fenced."""

    async def release(self, claim: Claim) -> None:
        """Let others claim the session at once."""

    async def read(self, session: str) -> list[Entry]:
        """All entries in order, the chain of digests checked. Raises JournalCorrupt, UnknownSession."""

    async def post(self, session: str, text: str | None) -> Note:
        """Leave a note for whoever runs the session. Any process may; it is durable on return."""

    async def notes(self, session: str, after: int) -> list[Note]:
        """Notes with a number above `after`, in order."""

    async def queue(self, session: str, text: str, identity: str) -> FollowUp:
        """Queue a follow-up under the poster's id; one that is there already is not queued again, and is returned.

        Any process may; it is durable on return. Raises UnknownSession, ConfigError for other words under that id.
        """

    async def queued(self, session: str, after: int) -> list[FollowUp]:
        """Follow-ups with a number above `after`, in order."""

    async def sessions(self) -> list[SessionInfo]: ...

    async def dump(self, session: str) -> list[Stored]:
        """All entries as they are stored, the chain of digests checked. Raises as `read` does."""

    async def adopt(self, session: str, entries: Sequence[Stored], *, noted: int = 0) -> None:
        """Make a new session of entries from elsewhere, with their claims' numbers and times as they are.

        All or nothing, durable on return. The chain is made anew for this session's name. Notes and follow-ups posted
        later get numbers above `noted`. Raises ConfigError if there is such a session.
        """

    async def delete(self, session: str) -> None:
        """Forget a session that nobody runs, with its notes: the one thing that is ever taken out of a journal.

        Raises SessionBusy, UnknownSession.
        """

    async def close(self) -> None: ...


# --- what an activity gets --------------------------------------------------------------------------------------


@attrs.frozen
class Outcome:
    """What an activity leaves: records to commit, and what happened. Where that leads, it does not know."""

    records: tuple[Record, ...]
    event: Event


class Hooks(Protocol):
    """What the host has to say about calls, before and after they run, and about a run's end.

    None of it raises, a cancellation aside.
    """

    def watches(self, name: str) -> bool:
        """Whether calls of this tool are put before a hook."""

    async def before(self, session: str, call: str, name: str, arguments: dict[str, JSON]) -> tuple[HookResult, ...]:
        """What hooks say to a call that is about to start: at least one answer, if any of them watches the tool."""

    async def after(self, run: ToolRun, output: ToolOutput) -> ToolOutput:
        """The output as hooks leave it."""

    async def stopping(self, history: History) -> tuple[HookResult, ...]:
        """What hooks say to a run whose candidate is about to be its end; nothing if none watches that.

        The first that refuses is the last that is asked.
        """


class Outside(Protocol):
    """The world, handed out only when everything before it is durable."""

    @property
    def providers(self) -> Sequence[Provider]:
        """The chain: the fold says which of them is asked."""

    @property
    def tools(self) -> Toolbox: ...

    @property
    def workspace(self) -> Workspace | None: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def hooks(self) -> Hooks: ...

    @property
    def verifier(self) -> Verifier | None: ...

    def cost(self, model: str, usage: Usage) -> float | None:
        """US dollars at the prices known now; None where the model has none."""

    async def call(self, run: ToolRun) -> ToolOutput:
        """Start a tool, and everything that comes after: its promise of JSON, hooks, limits on what is shown.

        A fault of any of them is an output, never an exception.
        """

    async def recall(self, run: ToolRun) -> ToolOutput | None:
        """What became of an earlier start: see `Toolbox.reconcile`. Raises what the tool's own check raises."""

    def slot(self, tool: str) -> AbstractAsyncContextManager[None]:
        """Room for one more call of the tool, within the limits on calls at once. To be entered before `confirm`."""

    async def confirm(self) -> None:
        """The claim still holds. To be called right before each side effect. Raises Fenced."""


class Run(Protocol):
    """One run, as its activities see it."""

    @property
    def session(self) -> str: ...

    @property
    def fence(self) -> int:
        """Number of this process's claim: an intent with a lower one was started by somebody else."""

    @property
    def history(self) -> History: ...

    @property
    def tools(self) -> Toolbox:
        """For looking things up; running one needs `outside`."""

    @property
    def prestart(self) -> frozenset[str]:
        """Names of the tools that may start while the answer that calls them is still being streamed."""

    @property
    def ahead(self) -> Ahead:
        """The calls of this process that started so; they outlive the activity that started them."""

    def hooked(self, name: str) -> bool:
        """Whether calls of this tool are put before a hook."""

    def permit(self, name: str, arguments: JSON, *, reads: bool, delegates: bool = False) -> Permit:
        """Whether a call may start, as the rules and the permission of the run have it now."""

    @property
    def answers_at_once(self) -> bool:
        """The host has said that it answers approvals itself, while the run goes on."""

    async def approvals(self) -> tuple[Record, ...]:
        """Answers of the host to the calls that wait for one; none if it answers later, or not at all."""

    async def inputs(self) -> tuple[UserInput, ...]:
        """Inputs that others posted and that are not in the journal yet."""

    async def outside(self, *records: Record) -> Outside:
        """Commit `records` and everything staged, confirm the claim, then give access to the world."""

    async def commit(self, *records: Record) -> None:
        """Make records durable in the middle of an activity. Cannot be cancelled."""

    async def gather(self) -> tuple[Record, ...]:
        """Evidence of this state's gates, as records to commit."""

    def show(self, item: TextDelta | ReasoningDelta | RetryNotice | CompactionNotice) -> None:
        """Show something ephemeral."""

    def give_up(self, spent: Spent | None) -> None:
        """What the answer under way had cost when it was given up: its cancellation says so."""

    def show_progress(self, call: str, text: str) -> None:
        """Show a line that a running tool printed."""
