"""The environment that `explore` sets against a run: everything that could be committed next, honest or not.

Honest moves are what the activities of `states`, a person, or the driver leave; where an activity is pure, it is the
activity itself that is asked. The others are lies and accidents: answers to calls that are not open, records of dead
epochs, receipts for another candidate, ends of activities that are not running.
"""

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar, cast

import attrs
import orjson

from gates.independently_verified import independently_verified
from gates.output_schema import fits
from gates.permission import permit
from states import dispatch_tools
from states.ahead import Ahead
from states.await_results import ONE_OUTPUT, close, with_output
from states.compaction import checkpoint
from states.context import plan
from states.contract import Budget, Contract, Permission, Verify
from states.finalize import receipt
from states.history import CallState, History
from states.ledger import HEADINGS
from states.messages import Block, Call, Finish, Text
from states.names import ENDS, RESTING, State
from states.output import OUTPUT_ACCEPTED, STRUCTURED_OUTPUT
from states.plan import SUBMIT_PLAN
from states.ports import Reply, Run, ToolOutput, ToolRun, ToolSpec
from states.prestart import lost
from states.provider_turn import given_up, turn_of
from states.records import (
    JSON,
    Approval,
    AssistantTurn,
    BudgetChange,
    Cancellation,
    Candidate,
    Cause,
    Dispatch,
    Evidence,
    Fate,
    Finalized,
    Finding,
    GoalChange,
    GoalWord,
    HookOutcome,
    HookResult,
    How,
    Judgement,
    Metadata,
    Prestart,
    PrestartsDropped,
    ProviderChange,
    Record,
    Resumed,
    RunStarted,
    Settlement,
    Source,
    Status,
    StopAnswer,
    ToolIntent,
    ToolResult,
    Trouble,
    TurnDiscarded,
    TurnFailure,
    UserInput,
    Verification,
    VerifierResult,
    VerifierStarted,
)
from states.rules import Permit
from states.stopping import GOAL_MET

from .moves import Move

Moves = Iterator[Move]
Proofs = Callable[[History], Iterable[tuple[str, tuple[Record, ...]]]]
"""What may be gathered in `verify`: a label and records, for each case."""

SECONDS: Final = 60.0
"""Budget of a run; an activity takes no time, or twice as much as there is."""
LONG: Final = 2 * SECONDS
NOW, OLD = "r2", "r1"
"""Workspace revisions."""
MOVED: Final = "r3"
"""The workspace after somebody changed it."""
READ, WRITE = "look", "act"
GATE: Final = independently_verified.name
ANNOUNCED: Final = "Let me look into it:"
"""What a model says that then calls nothing."""
LEDGER: Final = "\n".join(f"## {heading}\nnone" for heading in HEADINGS)
"""What a model writes that is asked for a ledger."""
REPEATED: Final = "the same"
"""What a stubborn model says; every other answer is new."""


class Shelf:
    """Two tools, described and never run: one reads, one has an effect and waits for an approval."""

    specs: Final = (
        ToolSpec(READ, "reads", {"type": "object"}, read_only=True, concurrency_safe=True),
        ToolSpec(WRITE, "has an effect", {"type": "object"}),
        ToolSpec(STRUCTURED_OUTPUT, "hands in the result", {"type": "object"}, read_only=True),
    )

    def spec(self, name: str) -> ToolSpec | None:
        return next((spec for spec in self.specs if spec.name == name), None)

    def complaint(self, name: str, arguments: JSON) -> str | None:
        if name == STRUCTURED_OUTPUT and not fits(SCHEMA, orjson.dumps(arguments).decode()):
            return "the output does not fit its schema."
        return None if self.spec(name) else f"there is no tool {name!r}."

    async def run(self, run: ToolRun) -> ToolOutput:
        raise NotImplementedError("explore runs no tool")

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        raise NotImplementedError("explore runs no tool")


@attrs.frozen
class _Desk:
    """As much of a run as `dispatch_tools` looks at."""

    history: History
    tools: Shelf = attrs.field(factory=Shelf)
    ahead: Ahead = attrs.field(factory=Ahead)
    answers_at_once: bool = False
    hooks: bool = False

    def hooked(self, name: str) -> bool:
        return self.hooks and name == WRITE

    def permit(self, name: str, arguments: JSON, *, reads: bool, delegates: bool = False) -> Permit:
        return permit(self.history, name, arguments, reads=reads, delegates=delegates)


Value = TypeVar("Value")


def at_once(work: Awaitable[Value]) -> Value:
    """The result of a coroutine that waits for nothing."""
    steps = cast("Generator[Any, None, Value]", work.__await__())
    try:
        next(steps)
    except StopIteration as done:
        return cast("Value", done.value)
    raise RuntimeError("this activity was expected to be pure, but it waits for something")


STARTED: Final = RunStarted(
    1,
    graph="",
    tools="",
    model="staged",
    contract=Contract(checks=("test",), verify=Verify.ALWAYS),
    budget=Budget(max_turns=None, seconds=SECONDS),
    permission=Permission.ASK,
    tool_names=(READ, WRITE),
    fallbacks=("staged",),
)
"""The run that is explored: it owes evidence and a verifier's word, its time is limited, its effectful tool needs an
approval, and a second provider may be asked."""

SCHEMA: Final = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
OWES_OUTPUT: Final = Contract(output_schema=SCHEMA)
"""What else is explored: a run that owes a structured output and nothing else."""


def proofs(history: History) -> Iterator[tuple[str, tuple[Record, ...]]]:
    """Evidence for the first duty of the contract: none, good, of an older workspace, of a failing command."""
    yield "no evidence", ()
    kinds = history.contract.checks
    if kinds:
        shown = Evidence(kinds, "pytest -q", 0, NOW, history.turn_seq)
        yield "a passing test", (shown,)
        yield "a test that passed on an older workspace", (attrs.evolve(shown, revision=OLD),)
        yield "a failing test", (attrs.evolve(shown, exit_status=1),)


def opinions(history: History) -> Iterator[tuple[str, tuple[Record, ...]]]:
    """What a verifier may say where one is owed; the first is what the run needs."""
    if history.contract.verify is not Verify.ALWAYS:
        yield "nobody else asked", ()
        return
    yield from _words(history, GATE)


def _words(history: History, gate: str) -> Iterator[tuple[str, tuple[Record, ...]]]:
    begun = VerifierStarted(gate, f"{gate}-{history.candidate}", history.candidate, NOW)
    said = VerifierResult(gate, begun.session, Judgement.PASS, "it works", NOW)
    yield "a verifier agrees", (begun, said)
    yield "nobody has looked", ()
    yield "a verifier objects", (begun, attrs.evolve(said, judgement=Judgement.FAIL))
    yield "a verifier agreed about an older workspace", (begun, attrs.evolve(said, revision=OLD))
    yield "a verifier says nothing", (begun, attrs.evolve(said, judgement=Judgement.NONE))
    yield "the verifier is down", (begun, attrs.evolve(said, judgement=Judgement.NONE, unavailable="it is down"))


Asking = tuple[tuple[str, str], ...]
CALLS: Final[Mapping[str, Asking]] = {
    "a read": ((READ, "{}"),),
    "an effect": ((WRITE, "{}"),),
    "arguments that are no JSON": ((READ, "{oops"),),
    "an unknown tool": (("nothing", "{}"),),
    "two reads": ((READ, "{}"), (READ, '{"n":2}')),
    "an effect, then a read": ((WRITE, "{}"), (READ, "{}")),
    "nonsense, then an effect": ((READ, "{oops"), (WRITE, "{}")),
    "two effects": ((WRITE, "{}"), (WRITE, '{"n":2}')),
}
"""What a turn may ask for: tool and arguments of each call."""
OUTPUTS: Final[Mapping[str, Asking]] = {
    "an output": ((STRUCTURED_OUTPUT, '{"n":1}'),),
    "an output that does not fit": ((STRUCTURED_OUTPUT, "{}"),),
    "two outputs": ((STRUCTURED_OUTPUT, '{"n":1}'), (STRUCTURED_OUTPUT, '{"n":2}')),
    "an output, then a read": ((STRUCTURED_OUTPUT, '{"n":1}'), (READ, "{}")),
    "a read": CALLS["a read"],
}
"""What the turns of a run may ask for that owes a structured output."""
A_READ: Final = {"a read": CALLS["a read"]}
EFFECTS: Final = {label: CALLS[label] for label in ("an effect", "an effect, then a read", "two effects")}
HOOKED: Final = '{"n":3}'
"""What a hook makes of a call's input."""
EARLY: Final = tuple(arguments for _, arguments in CALLS["two reads"])
"""Arguments of the reads that may start while the answer is streamed."""


@attrs.frozen
class World:
    """`hostile`: lies and accidents are in it. `calls`: what the model may ask for; nothing makes it a talker, which
    may say the same thing again. `results`: what may become of a call that was started. `hooks`: a hook is asked about
    each effect that would start.
    """

    hostile: bool = True
    calls: Mapping[str, Asking] = attrs.field(factory=lambda: CALLS)
    proofs: Proofs = proofs
    fits: bool = False
    """Every request fits the model's window."""
    results: tuple[Status, ...] = (Status.OK, Status.ERROR, Status.UNKNOWN, Status.CANCELLED)
    hooks: bool = False

    def moves(self, history: History) -> Moves:
        """Everything that could be committed next, apart from the move that the table decides about."""
        if history.closing_event is None:
            yield from _MENU[history.state](self, history)
        if history.state not in RESTING:
            yield from _stops(history)
            if history.closing_event is None:
                yield Move("an input arrives", (_input(),))
            elif self.hostile:
                yield Move("an input arrives too late", (_input(),), honest=False)
        if self.hostile and history.started is not None:
            yield from _accidents(history)


def _input() -> UserInput:
    return UserInput("and another thing", Source.STEERING)


# --- the model --------------------------------------------------------------------------------------------------


def _turn(history: History, *blocks: Block, finish: Finish = Finish.STOP, saw: int | None = None) -> AssistantTurn:
    return turn_of(Reply(blocks, finish), history, history.seq if saw is None else saw)


def _calls(wanted: Asking) -> tuple[Call, ...]:
    return tuple(Call("", name, arguments) for name, arguments in wanted)


def _compaction(history: History) -> Moves:
    """What did not fit is compacted first, whatever comes of it."""
    wanted = plan(history, Cause.OVERFLOW)
    if wanted is None:
        return
    how = How.LEDGER if wanted.cut else How.TRIMMED
    yield Move("the conversation is compacted", (checkpoint(history, wanted, Cause.OVERFLOW, how, LEDGER),))
    yield Move("the provider is down when a ledger is wanted", _trouble(history, Trouble.DOWN))


def _provider_turn(world: World, history: History) -> Moves:
    if history.early:
        yield from _over_early_starts(world, history)
        return
    if history.overflowing and (compactions := list(_compaction(history))):
        yield from compactions
        return
    if world.hostile and world.calls:
        yield from _early_starts(history)
    answer = Text(f"answer {history.turn_count + 1}")
    read = _calls(CALLS["a read"])
    said, cut = _turn(history, answer), _turn(history, answer, finish=Finish.LENGTH)
    asks, paused = _turn(history, *read, finish=Finish.CALLS), _turn(history, answer, finish=Finish.PAUSED)
    yield Move("the model answers", (said,))
    yield Move("the model answers with nothing", (_turn(history),))
    yield Move("the model announces work", (_turn(history, Text(f"{history.turn_count + 1}. {ANNOUNCED}")),))
    yield Move("an input is taken, then the model answers", (_input(), _turn(history, answer, saw=history.seq + 1)))
    if not world.calls:
        yield Move("the model gives the same answer", (_turn(history, Text(REPEATED)),))
        return
    for label, wanted in world.calls.items():
        yield Move(f"the model asks for {label}", (_turn(history, *_calls(wanted), finish=Finish.CALLS),))
    yield Move("the answer is cut off", (cut,))
    yield Move("a call is cut off", (_turn(history, *read, finish=Finish.LENGTH),))
    yield Move("the provider pauses", (paused,))
    yield Move("the provider gives no reason for its end", (_turn(history, answer, finish=Finish.UNKNOWN),))
    yield Move("the answer is withheld", (_turn(history, answer, finish=Finish.FILTERED),))
    for label, turn in (
        ("the answer is cut off", cut),
        ("the provider pauses", paused),
        ("the model asks", asks),
    ):
        yield Move(f"{label}, and the time is up", (turn,), pause=LONG)
    troubles = [trouble for trouble in Trouble if trouble is not Trouble.OVERFLOW or not world.fits]
    for trouble in troubles:
        yield Move(f"the provider is in trouble: {trouble}", _trouble(history, trouble))
    yield Move("the answer breaks off, and the time is up", _trouble(history, Trouble.CUT), pause=LONG)
    if not world.fits:
        yield Move("the request does not fit, and the time is up", _trouble(history, Trouble.OVERFLOW), pause=LONG)
    if world.hostile:
        dead = attrs.evolve(said, epoch=history.epoch - 1)
        yield Move("an answer of a dead epoch", (dead,), honest=False)
        same = ProviderChange(history.provider, history.epoch + 1, "no change")
        yield Move("a change to the same provider", (same,), honest=False)


def _trouble(history: History, trouble: Trouble) -> tuple[Record, ...]:
    failure = TurnFailure(trouble, f"trouble: {trouble}", None, history.epoch)
    dropped = _dropped(history)
    return (*dropped, *given_up(failure, history, history.epoch + len(dropped)), failure)


# --- calls that start while the answer is streamed --------------------------------------------------------------


def _early(history: History) -> Prestart:
    order = len(history.early)
    return Prestart(history.call_id(order), READ, EARLY[order], order, history.epoch)


def _early_starts(history: History) -> Moves:
    first = _early(history)
    yield Move("a read starts while the answer is streamed", (first,))
    second = attrs.evolve(first, call=history.call_id(1), order=1)
    yield Move("the second call starts first, while the answer is streamed", (second,), honest=False)
    yield Move("a call of a dead epoch starts early", (attrs.evolve(first, epoch=first.epoch - 1),), honest=False)
    yield Move("a call of another turn starts early", (attrs.evolve(first, call="call_0_0"),), honest=False)


def _over_early_starts(world: World, history: History) -> Moves:
    """The answer is being streamed, and some of its calls run: it adopts them, or they are dropped before all else."""
    begun = _calls(tuple((early.record.name, early.record.arguments) for early in history.early.values()))
    turn = _turn(history, *begun, finish=Finish.CALLS)
    yield Move("the model asks for what runs ahead", (turn,))
    yield Move(
        "the model asks for what runs ahead and an effect",
        (_turn(history, *begun, *_calls(CALLS["an effect"]), finish=Finish.CALLS),),
    )
    yield Move("the model asks for what runs ahead, and the time is up", (turn,), pause=LONG)
    cut = attrs.evolve(turn, finish=Finish.LENGTH, epoch=history.epoch + 1)
    yield Move("the answer is cut off; what runs ahead is dropped", (*_dropped(history), cut))
    other = _turn(history, Text(f"answer {history.turn_count + 1}"))
    told = attrs.evolve(other, epoch=history.epoch + 1)
    yield Move("the answer has no such call; what runs ahead is dropped", (*_dropped(history), told))
    yield Move("the process is lost; what ran ahead is dropped", lost(history))
    for trouble in (Trouble.CUT, Trouble.REFUSED):
        yield Move(f"what runs ahead is dropped, in trouble: {trouble}", _trouble(history, trouble))
    if len(history.early) < len(EARLY):
        yield Move("one more read starts while the answer is streamed", (_early(history),))
    if world.hostile:
        (dropped,) = _dropped(history)
        late = ToolResult(history.call_id(0), Status.OK, "late", epoch=history.epoch)
        lies: Mapping[str, tuple[Record, ...]] = {
            "a turn that leaves out what runs ahead": (other,),
            "a turn that was cut off adopts what runs ahead": (attrs.evolve(turn, finish=Finish.LENGTH),),
            "a failed turn over what runs ahead": (TurnFailure(Trouble.REFUSED, "no", None, history.epoch),),
            "a cancellation over what runs ahead": (Cancellation("stop"),),
            "a new epoch over what runs ahead": (TurnDiscarded(history.epoch + 1, "it broke off"),),
            "a result before its turn": (late,),
            "a result after its turn was dropped": (dropped, late),
            "what runs ahead is dropped within its epoch": (attrs.evolve(dropped, epoch=history.epoch),),
            "not all that runs ahead is dropped": (attrs.evolve(dropped, fates=dropped.fates[1:]),),
            "the same call starts ahead twice": (history.early[history.call_id(0)].record,),
        }
        for label, records in lies.items():
            yield Move(label, records, honest=False)


def _dropped(history: History) -> tuple[PrestartsDropped, ...]:
    fates = tuple(Fate(early.intent, Status.CANCELLED) for early in history.early.values())
    return (PrestartsDropped(history.epoch + 1, "the turn did not come", fates),) if fates else ()


# --- the tools --------------------------------------------------------------------------------------------------


def _dispatch(world: World, history: History) -> Moves:
    desk = cast("Run", _Desk(history, hooks=world.hooks))  # a desk is all that this activity looks at
    if world.hooks:
        yield from _over_hooks(history)
        if due := dispatch_tools.due_for_hooks(desk):
            yield from _hooks(due[0])
            return
    outcome = at_once(dispatch_tools.act(desk))
    yield Move("the calls are dispatched", outcome.records)
    if world.hostile:
        idle = [state for state in history.open_calls() if state.intent is None]
        if idle:
            yield Move("a dispatch that leaves calls out", (Dispatch(history.turn_seq),), honest=False)
        if idle and idle[0].call.name == WRITE and idle[0].approval is None:
            yield Move(
                "an effect starts unasked", (_intent(history, idle[0]), Dispatch(history.turn_seq)), honest=False
            )
        if len(idle) > 1:
            yield Move("the last call starts first", (_intent(history, idle[-1]), *outcome.records), honest=False)


def _hooks(due: ToolIntent) -> Moves:
    """What a hook may say to a call that is about to start."""
    said = HookResult(due.call, "PreToolUse", "guard", HookOutcome.PASSED)
    changed = attrs.evolve(said, outcome=HookOutcome.CHANGED, arguments=HOOKED)
    yield Move("a hook lets it pass", (said,))
    yield Move("a hook fails", (attrs.evolve(said, outcome=HookOutcome.FAILED, said="it broke"),))
    yield Move("a hook denies it", (attrs.evolve(said, outcome=HookOutcome.DENIED, said="no"),))
    yield Move("a hook has a person asked", (attrs.evolve(said, outcome=HookOutcome.ASKED, said="really?"),))
    yield Move("a hook changes its input", (changed,))
    yield Move(
        "a hook changes its input, and the next denies it", (changed, attrs.evolve(said, outcome=HookOutcome.DENIED))
    )


def _over_hooks(history: History) -> Moves:
    """A call starts although a hook denied it, without the person that it asked for, or not as it made it."""
    for state in history.open_calls():
        if state.intent is not None or not state.hooks:
            continue
        allowed = state.approval is not None and state.approval.granted
        held = any(said.outcome is HookOutcome.DENIED for said in state.hooks) or not allowed
        as_it_is = attrs.evolve(_intent(history, state), arguments=state.sent or "{}")
        if held:
            yield Move("a call starts over its hook", (as_it_is, Dispatch(history.turn_seq)), honest=False)
        if state.sent == HOOKED:
            as_it_was = attrs.evolve(as_it_is, arguments="{}")
            yield Move("a call starts with its old input", (as_it_was, Dispatch(history.turn_seq)), honest=False)


def _intent(history: History, state: CallState) -> ToolIntent:
    return ToolIntent(state.call.id, state.call.name, "{}", state.order, history.epoch)


def _await(world: World, history: History) -> Moves:
    settled = Settlement(history.turn_seq)
    open_calls = history.open_calls()
    for state in open_calls:
        ends = (settled,) if len(open_calls) == 1 else ()
        for result in _results(world, history, state):
            records = with_output(history, result)
            yield Move(f"call {state.order + 1} is answered: {result.status}", (*records, *ends))
            if ends:
                yield Move(f"call {state.order + 1} is answered: {result.status}, then a crash", records)
    if len(open_calls) == 1 and open_calls[0].call.name in (READ, SUBMIT_PLAN):
        asks = ToolResult(open_calls[0].call.id, Status.OK, "shown", epoch=history.epoch, asks="Is this right?")
        yield Move("the last call asks a person", (asks, settled))
    if not open_calls:
        yield Move("the turn is settled", (settled,))
        yield Move("the turn is settled, and the time is up", (settled,), pause=LONG)
    elif world.hostile:
        yield Move("the turn is settled too early", (settled,), honest=False)
        for epoch in (history.epoch - 1, history.epoch + 1):
            late = ToolResult(open_calls[0].call.id, Status.OK, "late", epoch=epoch)
            yield Move("a result of another epoch", (late,), honest=False)


def _results(world: World, history: History, state: CallState) -> Iterator[ToolResult]:
    """What may become of a call. One that hands in an output is taken, unless its turn has handed one in."""
    if state.call.name != STRUCTURED_OUTPUT or not history.contract.output_schema:
        yield from (ToolResult(state.call.id, status, f"{status}", epoch=history.epoch) for status in world.results)
    elif history.output_of_turn:
        yield ToolResult(state.call.id, Status.ERROR, ONE_OUTPUT, epoch=history.epoch)
    else:
        seen: Metadata = {"revision_before": NOW, "revision_after": NOW}
        yield ToolResult(state.call.id, Status.OK, "accepted", seen, epoch=history.epoch)


# --- the candidate ----------------------------------------------------------------------------------------------


def _candidate(world: World, history: History) -> Moves:
    candidate = Candidate(history.turn_seq)
    seen = (Finding(OUTPUT_ACCEPTED, holds=True, revision=NOW),) if history.output else ()
    yield Move("the candidate is put up", (*seen, candidate))
    yield Move("the candidate is put up, and the time is up", (*seen, candidate), pause=LONG)
    yield Move("an input, then the candidate", (_input(), candidate))
    if seen:
        moved = Finding(OUTPUT_ACCEPTED, holds=True, revision=MOVED)
        yield Move("the workspace moved; the candidate is put up", (moved, candidate))


def _verify(world: World, history: History) -> Moves:
    revision = NOW if history.owes_evidence else ""
    verification = Verification(history.candidate, revision)
    cases = list(world.proofs(history))
    agrees, *others = opinions(history)
    for label, found in cases:
        yield Move(f"verified with {label}", (*agrees[1], *found, verification))
    label, found = cases[min(1, len(cases) - 1)]
    for opinion, said in others:
        yield Move(f"verified with {label}, and {opinion}", (*said, *found, verification))
    if history.output:
        yield Move("the workspace moved; verified", (Verification(history.candidate, MOVED),))


def _stop_hook(world: World, history: History) -> Moves:
    sealed = StopAnswer(history.candidate, history.noted)
    if history.pursues_goal:
        for label, said in _words(history, GOAL_MET):
            yield Move(f"asked whether the goal is reached: {label}", (*said, sealed))
            if label == "a verifier objects":
                yield Move("the goal is not reached, and the time is up", (*said, sealed), pause=LONG)
    yield Move("nobody objects", (sealed,))
    yield Move("a late input, then the seal", (_input(), sealed))
    if history.stop_hooks:
        return
    allows = HookResult("", "Stop", "the hook", HookOutcome.PASSED, candidate=history.candidate, revision=NOW)
    refuses = attrs.evolve(allows, outcome=HookOutcome.DENIED, said="not yet")
    yield Move("a stop hook refuses", (refuses, sealed))
    yield Move("a stop hook refuses, and the time is up", (refuses, sealed), pause=LONG)
    yield Move("a stop hook fails, and has no vote", (attrs.evolve(allows, outcome=HookOutcome.FAILED), sealed))
    yield Move("a stop hook allows it, then a crash", (allows,))
    if world.hostile:
        other = attrs.evolve(allows, candidate=history.candidate - 1)
        yield Move("a stop hook's answer about another candidate", (other,), honest=False)
        yield Move("a stop hook's answer after the seal", (sealed, allows), honest=False)
        yield Move("a stop hook is asked after one that refused", (refuses, allows), honest=False)


def _finalize(world: World, history: History) -> Moves:
    revision = (history.verification.revision if history.verification else "") or history.stopped_on
    honest = receipt(history, revision)
    yield Move("the receipt is written", (honest,))
    yield Move("the workspace moved; the receipt is written", (receipt(history, MOVED if revision != MOVED else "r4"),))
    if world.hostile:
        for label, lie in _lies(honest):
            yield Move(f"a receipt with {label}", (lie,), honest=False)


def _lies(honest: Finalized) -> Iterator[tuple[str, Finalized]]:
    yield "another candidate", attrs.evolve(honest, candidate=honest.candidate - 1)
    yield "no verdicts", attrs.evolve(honest, verdicts=())
    yield "no evidence", attrs.evolve(honest, evidence=())
    if honest.goal:
        yield "nothing that shows the goal to be reached", attrs.evolve(honest, goal="")
    for seq in honest.verdicts:
        yield "a verdict missing", attrs.evolve(honest, verdicts=tuple(s for s in honest.verdicts if s != seq))


# --- people -----------------------------------------------------------------------------------------------------


def _suspended(world: World, history: History) -> Moves:
    more: tuple[Record, ...] = (BudgetChange(Budget(max_turns=None, seconds=history.seconds + SECONDS)),)
    words: tuple[Record, ...] = (UserInput("go on"),)
    waiting = [state.call.id for state in history.open_calls() if state.asked and state.approval is None]
    if history.pursues_goal:
        yield Move("the goal is given up", (GoalChange(GoalWord.CLEAR),))
    yield Move("resumed", (Resumed(),))
    yield Move("resumed with more time", (*more, Resumed()))
    yield Move("resumed with words and more time", (*more, *words, Resumed()))
    for call in waiting[:1]:
        for granted, label in ((True, "approves"), (False, "refuses")):
            yield Move(f"a person {label} the first call", (Approval(call, granted), *more, Resumed()))
    if len(waiting) > 1:
        everything = tuple(Approval(call, granted=True) for call in waiting)
        yield Move("a person approves every call", (*everything, *more, Resumed()))


def _ended(world: World, history: History) -> Moves:
    started = history.started or STARTED
    yield Move("another task", (attrs.evolve(started, run=history.run + 1), UserInput("another task")))
    if world.hostile:
        yield Move("an end is resumed", (Resumed(),), honest=False)
        yield Move("an end is cancelled", (Cancellation("stop"),), honest=False)


def _stops(history: History) -> Moves:
    closes = tuple(close(state, history.epoch, history.fence, begun=False) for state in history.open_calls())
    yield Move("somebody cancels the run", (*_dropped(history), *closes, Cancellation("stop")))


_MENU: Final[Mapping[State, Callable[[World, History], Moves]]] = {
    State.PROVIDER_TURN: _provider_turn,
    State.DISPATCH_TOOLS: _dispatch,
    State.AWAIT_RESULTS: _await,
    State.CANDIDATE_FINAL: _candidate,
    State.VERIFY: _verify,
    State.STOP_HOOK: _stop_hook,
    State.FINALIZE: _finalize,
    State.SUSPENDED: _suspended,
    **dict.fromkeys(ENDS, _ended),
}


def _accidents(history: History) -> Moves:
    """Ends of activities that are not running, ends that come twice, answers to calls that are not open."""
    old = max(history.candidate - 1, 0)
    turn = history.turn_seq
    closings: Mapping[State, Record] = {
        State.PROVIDER_TURN: _turn(history, Text("out of turn")),
        State.DISPATCH_TOOLS: Dispatch(turn),
        State.AWAIT_RESULTS: Settlement(turn),
        State.CANDIDATE_FINAL: Candidate(turn),
        State.VERIFY: Verification(history.candidate, NOW),
        State.STOP_HOOK: StopAnswer(history.candidate, 0),
        State.FINALIZE: Finalized(history.candidate, "all done"),
        State.SUSPENDED: Resumed(),
    }
    for state, record in closings.items():
        if state is not history.state or history.closing_event is not None:
            yield Move(f"out of place: {type(record).__name__}", (record,), honest=False)
    yield Move("a candidate of another turn", (Candidate(turn - 1),), honest=False)
    yield Move("a verification of another candidate", (Verification(old, NOW),), honest=False)
    yield Move("an answer about another candidate", (StopAnswer(old, 0),), honest=False)
    yield Move("an answer to no call", (ToolResult("call_0_0", Status.OK, "?", epoch=history.epoch),), honest=False)
    for state_ in history.calls.values():
        if state_.result is not None:
            yield Move("a call is answered twice", (attrs.evolve(state_.result, output="again"),), honest=False)
            break
