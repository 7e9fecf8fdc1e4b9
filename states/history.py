"""What is committed of a session, and all that a gate ever sees. Only `states.fold` writes it."""

from collections import Counter

import attrs

from .actions import Actions
from .continued import joined
from .contract import Budget, Contract, Isolation, Permission
from .messages import (
    Call,
    Message,
    Usage,
    text_of,
)
from .names import INITIAL, Event, State
from .records import (
    Approval,
    AssistantTurn,
    Baseline,
    Evidence,
    Failed,
    Finalized,
    Finding,
    Forked,
    HookResult,
    OutputAccepted,
    Prestart,
    ProviderChange,
    RunStarted,
    StopAnswer,
    Suspended,
    ToolResult,
    TurnFailure,
    Verification,
    VerifierResult,
    VerifierStarted,
)
from .rules import Rules
from .verdicts import Ruling, WaitsFor


@attrs.define
class CallState:
    """How far one call of the current turn has come."""

    call: Call
    order: int
    intent: int | None = None
    """Sequence number of its intent: from here on it may have been started."""
    fence: int = 0
    """The claim that wrote the intent."""
    arguments: str = ""
    """Canonical arguments, as the intent has them."""
    read_only: bool = False
    shared: bool = False
    prestarted: bool = False
    """It started while its answer was still being streamed."""
    asked: bool = False
    why: str = ""
    """What asked for an approval."""
    hooks: tuple[HookResult, ...] = ()
    """What hooks said before it started."""
    approval: Approval | None = None
    elsewhere: bool = False
    """It was started in the session that this one was forked from, and is not ours to finish."""
    result: ToolResult | None = None

    @property
    def sent(self) -> str:
        """The arguments that it is to run with: the model's, or what a hook made of them."""
        return next((said.arguments for said in reversed(self.hooks) if said.arguments), self.call.arguments)


@attrs.frozen
class Early:
    """A call that runs ahead of its turn. `intent` is the number of `record`, `fence` the claim that wrote it."""

    intent: int
    fence: int
    record: Prestart


@attrs.frozen
class CommandRun:
    """A committed result of a tool that ran a command."""

    result: int
    command: str
    exit_status: int
    said: str
    """The end of its output, `SAID` characters."""
    revision: str
    """The workspace's revision, if it was the same before and after; else empty."""


@attrs.frozen
class Child:
    """An agent that this run has begun. `state` is None until the run knows that it ended, or rests."""

    intent: int
    agent: str
    prompt: str
    background: bool
    state: State | None = None
    reason: str = ""
    usage: Usage = Usage()
    cost: float = 0.0
    isolation: Isolation = Isolation.NONE


@attrs.frozen
class Output:
    """The structured output that stands: record `seq`, accepted in the turn `turn`."""

    seq: int
    turn: int
    accepted: OutputAccepted


@attrs.frozen
class Question:
    """Something that a tool showed to a person, who has not answered yet. `result` is where it stands."""

    result: int
    waits_for: WaitsFor
    shows: str


@attrs.frozen
class Goal:
    """What the session is to reach: record `seq`. It is complete once a run has succeeded that reached it."""

    seq: int
    text: str
    paused: bool = False
    complete: bool = False


@attrs.define(eq=False)
class History:
    """What is known of a session. Read it; only `apply` writes it."""

    session: str
    seq: int = 0
    """Sequence number of the last record (0: nothing yet)."""
    at: float = 0.0
    fence: int = 0
    state: State = INITIAL
    started: RunStarted | None = None
    messages: list[Message] = attrs.field(factory=list)
    """The conversation, in the order in which the model has to see it. It grows at its end; a compaction replaces what
    came first."""
    held: list[Message] = attrs.field(factory=list)
    """Inputs that wait until the open calls are answered."""

    # this session
    title: str = ""
    forked: Forked | None = None
    """Where its first records came from."""
    goal: Goal | None = None
    spent: Usage = Usage()
    """Over all runs; what was copied by a fork is counted with it."""

    loaded: dict[str, None] = attrs.field(factory=dict)
    """Deferred tools that the model has loaded, in their order."""

    # this run
    system: str = ""
    """The system prompt: its base and its layers. It stays the same for the whole run."""
    context: str = ""
    """What the host said last about date and place."""
    contract: Contract = Contract()
    budget: Budget = Budget()
    permission: Permission = Permission.FULL
    rules: Rules = Rules()
    models: tuple[str, ...] = ()
    """The chain of models that may be asked, by name."""
    provider: int = 0
    """Place in the chain of the one that is asked."""
    passed_over: int = 0
    """Providers that were given up since the last good turn."""
    change: ProviderChange | None = None
    """The change of provider that the current activity ends with."""
    window: int | None = None
    """Tokens that a request may fill, if that is known."""
    compacted_on: int = 0
    """The run's turn after which the conversation was compacted last."""
    turns: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    cost: float = 0.0
    """US dollars, as far as prices were known."""
    unpriced: str = ""
    """The last model that answered and has no price (empty: none)."""
    delegated: int = 0
    """Calls that asked for another agent's work."""
    seconds: float = 0.0
    """Time in which somebody worked on the run."""
    retries: Counter[str] = attrs.field(factory=Counter)
    """Retry verdicts per gate, and calls of `structured_output` that were refused: the committed counters that bound
    every cycle."""
    hints: dict[str, int] = attrs.field(factory=dict)
    """The turn on which each gate gave its last hint."""
    suspends: dict[str, int] = attrs.field(factory=dict)
    """The last verdict with which each gate put the run to rest."""
    understood: tuple[str, ...] = ()
    """Kinds of checks that inputs asked for."""
    baselines: dict[str, Baseline] = attrs.field(factory=dict)
    last_input: int = 0
    last_words: str = ""
    """Text of the last input."""
    inputs: list[str] = attrs.field(factory=list)
    """What was asked for in this run."""
    changed: dict[str, None] = attrs.field(factory=dict)
    """Files that tools, or agents, are known to have changed, or may have: paths relative to the workspace."""
    shell: dict[str, None] = attrs.field(factory=dict)
    """Commands that were started in a shell, by this run or its agents, whatever came of them."""
    verified: dict[str, VerifierResult] = attrs.field(factory=dict)
    """What verifiers said since the last input, by gate."""
    calls_since_input: int = 0
    effects_since_input: int = 0
    """Successful calls since the last input of tools that are not read-only."""
    failing: dict[str, int] = attrs.field(factory=dict)
    """Failures in a row, by tool."""
    actions: Actions = attrs.field(factory=Actions)
    children: dict[str, Child] = attrs.field(factory=dict)
    """Agents that this run has begun, by session."""
    output: Output | None = None
    """What the model has handed in, until a newer input or the gate drops it."""
    questions: list[Question] = attrs.field(factory=list)
    """What a person has to answer before the run goes on; their next words answer all of it."""
    rest: Suspended | None = None
    summary: str = ""
    """Where things stood when the run came to rest for want of budget."""
    failure: Failed | None = None

    # this turn
    epoch: int = 0
    turn_count: int = 0
    """Turns of the session, for ids."""
    turn: AssistantTurn | None = None
    turn_seq: int = 0
    carried: str = ""
    """Words of the turns before, if the last one goes on with them."""
    cut: bool = False
    """They were cut off at the output limit: the last turn may begin with the end of them once more."""
    trouble: TurnFailure | None = None
    overflows: int = 0
    """Requests since the last good turn that did not fit the window."""
    overflowing: bool = False
    """The last of them has not been compacted yet."""
    cuts: int = 0
    """Answers in a row that broke off."""
    calls: dict[str, CallState] = attrs.field(factory=dict)
    """Calls of the current turn, in the model's order."""
    unanswered: int = 0
    early: dict[str, Early] = attrs.field(factory=dict)
    """Calls that run ahead of a turn which is not committed yet, in the model's order."""
    require_tool: str | None = None

    # this candidate
    candidate: int = 0
    same_text: int = 0
    """How many candidates in a row said the same (0: there is none yet)."""
    verification: Verification | None = None
    stop_hooks: tuple[tuple[int, HookResult], ...] = ()
    """What hooks said about its stop, with the sequence numbers."""
    stop_answer: StopAnswer | None = None
    receipt: Finalized | None = None
    verdicts: dict[str, tuple[int, Ruling]] = attrs.field(factory=dict)
    """The latest verdict of each gate on this candidate."""
    evidence: dict[int, Evidence] = attrs.field(factory=dict)
    findings: dict[str, tuple[int, Finding]] = attrs.field(factory=dict)
    """What gates saw, by gate, with the sequence number."""
    opinions: dict[str, tuple[int, VerifierResult]] = attrs.field(factory=dict)
    """What verifiers say about this very candidate, by gate, with the sequence number."""
    verifiers: dict[str, VerifierStarted] = attrs.field(factory=dict)
    """Verifiers that look at this candidate, by session."""
    commands: list[CommandRun] = attrs.field(factory=list)

    # the model's window
    counted: int = 0
    """Tokens of the first `counted_to` messages, as the provider counted them (0: it has not yet)."""
    counted_to: int = 0
    beside: int | None = None
    """Tokens of a request beside its messages (system prompt, tools), by the first count of the session."""
    compactions: int = 0
    compaction_failures: int = 0
    """Ledgers in a row that could not be had."""

    # bookkeeping
    noted: int = 0
    """Number of the last note from outside that is in the journal."""
    queued: int = 0
    """Number of the last follow-up that is in the journal."""
    closing: int = 0
    """The unspent record that ended the current activity (0: it has not ended)."""
    closing_event: Event | None = None
    unspent: set[int] = attrs.field(factory=set)
    last_text: str = ""

    @property
    def text(self) -> str:
        """Words of the last answer, with what was cut off or paused before it; nothing of that is said twice."""
        if self.turn is None:
            return ""
        words = text_of(self.turn.blocks)
        return joined(self.carried, words) if self.cut else self.carried + words

    @property
    def output_of_turn(self) -> bool:
        """The output that stands was handed in by the current turn."""
        return self.output is not None and self.output.turn == self.turn_seq

    @property
    def answer(self) -> str:
        """What the run's result is if this turn is its last: the output that stands, as JSON, or else the words."""
        return self.output.accepted.value if self.output else self.text

    @property
    def run(self) -> int:
        """Number of the current run; 0 before the first."""
        return self.started.run if self.started else 0

    @property
    def inputs_answered(self) -> bool:
        """The last turn's request contained every input that is in the journal."""
        return self.turn is not None and self.last_input <= self.turn.saw

    @property
    def stopped_on(self) -> str:
        """The workspace's revision when stop hooks had answered about this candidate; empty if nobody was asked."""
        return self.stop_hooks[-1][1].revision if self.stop_hooks else ""

    @property
    def owed(self) -> tuple[str, ...]:
        """Kinds of checks that the run owes: declared, or asked for in its inputs."""
        return tuple(dict.fromkeys((*self.contract.checks, *self.understood)))

    @property
    def owes_evidence(self) -> bool:
        """Success rests on facts about the workspace, which hold for one revision of it."""
        asked = self.contract.owes_evidence or self.understood or self.pursues_goal
        return bool(asked or self.baselines or self.findings)

    @property
    def pursues_goal(self) -> bool:
        """Success has to reach the session's goal."""
        return self.goal is not None and not self.goal.paused and not self.goal.complete

    def call_id(self, order: int) -> str:
        """Our own id of a call of the next turn, by its place in it: providers repeat theirs."""
        return f"call_{self.turn_count + 1}_{order}"

    @property
    def plan(self) -> Question | None:
        """The plan that waits for a review."""
        return next((asked for asked in self.questions if asked.waits_for is WaitsFor.PLAN_REVIEW), None)

    def open_calls(self) -> list[CallState]:
        """Calls of the current turn that have no answer yet, in the model's order."""
        return [state for state in self.calls.values() if state.result is None]
