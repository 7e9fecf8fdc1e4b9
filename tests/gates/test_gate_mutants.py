"""Planted faults, gate by gate: it always passes, it is blind to revisions, a crash refills its budget, it changes
places with the next. Each is told from the real one by what happens in a story of that gate.

A story is a run's past in which the gate has its say, up to its last word. The process is lost before every move, so
what the gate counts has to be in the journal.
"""

import copy
import inspect
import sys
from collections import Counter
from itertools import pairwise

import attrs
import pytest
from support.past import Past

from fsm.graph import GRAPH
from fsm.machine import decide
from gates.gate import Asked, Gate
from states.actions import Actions
from states.compaction import checkpoint
from states.context import plan
from states.contract import Budget, Contract, Permission
from states.errors import HistoryError
from states.finalize import receipt
from states.fold import apply, fold
from states.history import History
from states.messages import Call, Finish, Text, Usage
from states.names import Event, State
from states.output import OUTPUT_ACCEPTED, schema_digest
from states.records import (
    ApprovalAsked,
    Candidate,
    Cause,
    ChainChange,
    Dispatch,
    Entry,
    Evidence,
    Finding,
    GoalSet,
    HookOutcome,
    HookResult,
    How,
    Judgement,
    OutputAccepted,
    ProviderChange,
    RunStarted,
    Status,
    StopAnswer,
    ToolIntent,
    ToolResult,
    Transition,
    Trouble,
    TurnDiscarded,
    TurnFailure,
    UserInput,
    Verdict,
    Verification,
    VerifierResult,
    VerifierStarted,
)
from states.verdicts import Fail, Pass, Retry, Suspend

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
OWES_OUTPUT = Contract(output_schema=SCHEMA)
OWES_TEST = Contract(checks=("test",))
OWES_A_LOOK = Contract(verify="always")


class Play(Past):
    """A past whose process is lost before every move; `forgets` is what a faulty one would forget then."""

    def __init__(self, graph=GRAPH, forgets=None, budget=Budget(max_turns=None), **started):
        self.entries, self.history, self.fence, self.now = [], History("s"), 1, 100.0
        self.graph, self.forgets, self.asked = graph, forgets, []
        started = RunStarted(1, "g", "t", "m", budget=budget, tool_names=("bash",), **started)
        self.add(started, UserInput("do it"))

    def move(self):
        history = fold("s", self.entries)
        if self.forgets:
            self.forgets(history)
        else:
            assert counters(history) == counters(self.history)
        self.history = history
        decision = decide(self.graph, history.state, history.closing_event, history)
        rests_on = [history.closing]
        self.asked = [(gate.name, ruling) for gate, ruling in decision.rulings]
        for gate, ruling in decision.rulings:
            self.add(Verdict(gate.name, ruling))
            rests_on.append(history.seq)
        return self.add(Transition(decision.source, decision.event, decision.target, tuple(rests_on)))

    def add(self, *records):
        """Past what was forgotten, too: the journal keeps what happened."""
        for record in records:
            entry = Entry(self.history.seq + 1, self.now, self.fence, record)
            apply(self.history, entry)
            self.entries.append(entry)
        return self

    def works(self, *calls, status=Status.OK):
        """A whole turn of tools: names with their arguments. What `ask` gives is a question."""
        number = self.history.turn_count + 1
        asked = [Call(f"call_{number}_{order}", *call) for order, call in enumerate(calls)]
        self.turn(*asked).move()
        for order, call in enumerate(asked):
            self.add(ToolIntent(call.id, call.name, call.arguments, order, self.history.epoch))
        self.add(Dispatch(self.history.turn_seq)).move()
        for call in asked:
            question = call.name == "ask"
            ended = Status.OK if question else status
            self.add(ToolResult(call.id, ended, "ok", {}, epoch=self.history.epoch, asks="Which?" if question else ""))
        return self.settle()

    def put_up(self, text="done", *late, found=()):
        """A candidate, with inputs that came too late for it and what gates found."""
        return self.says(text).move().add(*late, *found, Candidate(self.history.turn_seq))

    def sealed(self, text, *late, revision="", evidence=(), found=()):
        """A candidate up to the seal."""
        self.put_up(text, found=found).move().add(*evidence, Verification(self.history.candidate, revision)).move()
        return self.add(*late, StopAnswer(self.history.candidate, self.history.noted))


def counters(history):
    """All that bounds a cycle."""
    return (
        history.retries,
        history.hints,
        history.suspends,
        history.failing,
        history.actions,
        history.same_text,
        history.passed_over,
        (history.overflows, history.overflowing, history.compacted_on),
        (history.turns, history.usage, history.tool_calls),
    )


# --- the stories ------------------------------------------------------------------------------------------------


def cut(play):
    for _ in range(4):
        play.turn(Text("half"), finish=Finish.LENGTH).move()


def paused(play):
    for _ in range(21):
        play.turn(Text("one moment"), finish=Finish.PAUSED).move()


def filtered(play):
    play.turn(Text("x"), finish=Finish.FILTERED).move()


def broken_off(play):
    for epoch in range(1, 5):
        play.add(TurnDiscarded(epoch, "cut"), TurnFailure(Trouble.CUT, "cut")).move()


def compacted(play, **cut):
    wanted = attrs.evolve(plan(play.history, Cause.OVERFLOW), **cut)
    return play.add(checkpoint(play.history, wanted, Cause.OVERFLOW, How.LEDGER, "what came before"))


def overflown(play):
    for number in range(6):
        play.works(("bash", f'{{"n":"{number:4000}"}}')).move()
    play.add(TurnFailure(Trouble.OVERFLOW, "too long")).move()
    compacted(play, cut=3).add(TurnFailure(Trouble.OVERFLOW, "too long")).move()


def nearly_full(play):
    play.add(ChainChange(("m",), window=20))
    for number in range(6):
        if number == 3:
            compacted(play)
        play.works(("bash", f'{{"n":{number}}}')).move()


def down(play):
    play.add(ChainChange(("m", "n")))
    for epoch in (1, 2):
        if play.history.passed_over + 1 < len(play.history.models):
            play.add(ProviderChange(1 - play.history.provider, epoch, "the other is asked"))
        play.add(TurnFailure(Trouble.DOWN, "down")).move()


def beyond_budget(play):
    for number in range(2):
        play.works(("bash", f'{{"n":{number}}}')).move()
    play.calls("bash").move()


def unapproved(play):
    play.calls("bash").move().add(ApprovalAsked("call_1_0", "bash", "{}"), Dispatch(play.history.turn_seq)).move()


def repeated_calls(play):
    for _ in range(16):
        play.works(("look", "{}")).move()


def failing_tool(play):
    for number in range(3):
        play.works(("bash", f'{{"n":{number}}}'), status=Status.ERROR).move()


def six_turns(play):
    for number in range(6):
        play.works(("bash", f'{{"n":{number}}}')).move()


def refused_outputs(play):
    for number in range(3):
        play.works(("structured_output", f'{{"m":{number}}}'), status=Status.ERROR).move()


def question(play):
    play.works(("ask", "{}")).move()


def late_words(play):
    play.put_up("done", UserInput("wait")).move()


def too_late_words(play):
    play.sealed("done", UserInput("one more thing")).move()


def no_plan(play):
    for number in range(3):
        play.put_up(f"answer {number}").move()


def stale_output(play):
    play.works(("structured_output", '{"n":1}'))
    digest = schema_digest(play.history.contract.output_schema)
    call = next(iter(play.history.calls))
    accepted = OutputAccepted(call, digest, '{"n":1}', "r1")
    done = play.entries.pop()  # the output is accepted before the turn is settled
    play.history = fold("s", play.entries)
    play.add(accepted, done.record).move().add(Finding("output_accepted", holds=True, revision="r2"))
    play.add(Candidate(play.history.turn_seq)).move()
    for number in range(2):
        play.put_up(f"answer {number}").move()


def blank(play):
    for _ in range(2):
        play.put_up(" ").move()


def same_text(play):
    for _ in range(9):
        play.put_up("all done").move()
        if play.state is State.VERIFY:
            play.add(Verification(play.history.candidate)).move()
            play.add(UserInput("more"), StopAnswer(play.history.candidate, play.history.noted)).move()


def announced(play):
    for number in range(3):
        play.put_up(f"That is part {number}. Now I will run the tests.").move()


def stale_check(play):
    for number in range(4):
        passed = Evidence(("test",), "pytest -q", 0, "r0", 9)
        play.put_up(f"done {number}").move().add(passed, Verification(play.history.candidate, "r1")).move()


def stale_look(play):
    for number in range(4):
        play.put_up(f"done {number}").move()
        begun = VerifierStarted("independently_verified", f"look-{number}", play.history.candidate, "r0")
        agreed = VerifierResult(begun.gate, begun.session, Judgement.PASS, "fine", "r0")
        play.add(begun, agreed, Verification(play.history.candidate, "r1")).move()


def refused(play):
    for number in range(9):
        play.put_up(f"done {number}").move().add(Verification(play.history.candidate)).move()
        said = HookResult("", "Stop", "hook", HookOutcome.DENIED, "no", candidate=play.history.candidate)
        play.add(said, StopAnswer(play.history.candidate, play.history.noted)).move()


def unreached(play):
    play.add(GoalSet("the goal"))
    for number in range(4):
        play.put_up(f"done {number}").move().add(Verification(play.history.candidate, "r1")).move()
        begun = VerifierStarted("goal_met", f"look-{number}", play.history.candidate, "r0")
        agreed = VerifierResult(begun.gate, begun.session, Judgement.PASS, "fine", "r0")
        play.add(begun, agreed, StopAnswer(play.history.candidate, play.history.noted)).move()


def moved_workspace(play):
    for number in range(4):
        passed = Evidence(("test",), "pytest -q", 0, "r1", 9)
        play.sealed(f"done {number}", revision="r1", evidence=[passed]).move()
        play.add(receipt(play.history, "r2")).move()


RETRIES = "retries"
STORIES = {
    "turn_whole": (cut, {}, [RETRIES] * 3 + ["fails: truncated"], State.FAILED),
    "turn_ended": (paused, {}, [RETRIES] * 20 + ["fails: stuck"], State.FAILED),
    "turn_unfiltered": (filtered, {}, ["fails: content_filtered"], State.FAILED),
    "context_fits": (overflown, {}, [RETRIES, "fails: context_overflow"], State.FAILED),
    "provider_answers": (broken_off, {}, [RETRIES] * 3 + ["suspends"], State.SUSPENDED),
    "provider_kept": (down, {}, [RETRIES], State.SUSPENDED),
    "budget_left": (beyond_budget, {"budget": Budget(max_turns=3)}, ["suspends"], State.SUSPENDED),
    "calls_permitted": (unapproved, {}, ["suspends"], State.SUSPENDED),
    "actions_progress": (repeated_calls, {}, ["hints", "fails: stuck"], State.FAILED),
    "tools_work": (failing_tool, {}, ["hints"], State.PROVIDER_TURN),
    "on_course": (six_turns, {}, ["hints"], State.PROVIDER_TURN),
    "window_left": (nearly_full, {}, ["hints"] * 2, State.PROVIDER_TURN),
    "output_correctable": (
        refused_outputs,
        {"contract": OWES_OUTPUT},
        ["fails: structured_output_failed"],
        State.FAILED,
    ),
    "questions_answered": (question, {}, ["suspends"], State.SUSPENDED),
    "inputs_answered": (late_words, {}, [RETRIES], State.PROVIDER_TURN),
    "plan_handed_over": (no_plan, {"permission": Permission.PLAN}, [RETRIES] * 2 + ["suspends"], State.SUSPENDED),
    "output_accepted": (
        stale_output,
        {"contract": OWES_OUTPUT},
        [RETRIES] * 2 + ["fails: structured_output_failed"],
        State.FAILED,
    ),
    "final_has_text": (blank, {}, [RETRIES, "fails: empty_final"], State.FAILED),
    "text_is_new": (same_text, {}, [RETRIES] * 2 + ["fails: stuck"], State.FAILED),
    "intent_carried_out": (announced, {}, [RETRIES] * 2, State.VERIFY),
    "independently_verified": (
        stale_look,
        {"contract": OWES_A_LOOK},
        [RETRIES] * 3 + ["fails: verification_failed"],
        State.FAILED,
    ),
    "checks_passed": (
        stale_check,
        {"contract": OWES_TEST},
        [RETRIES] * 3 + ["fails: verification_failed"],
        State.FAILED,
    ),
    "stop_allowed": (refused, {}, [RETRIES] * 8 + ["suspends"], State.SUSPENDED),
    "late_inputs_answered": (too_late_words, {}, [RETRIES], State.PROVIDER_TURN),
    "goal_met": (unreached, {}, [RETRIES] * 3 + ["suspends"], State.SUSPENDED),
    "receipt_holds": (moved_workspace, {"contract": OWES_TEST}, [RETRIES] * 3 + ["fails: stuck"], State.FAILED),
}
"""By gate: its story, how the run was set up, what the gate says beyond plain passes, and where that leads."""

REVISIONED = {"checks_passed", "goal_met", "independently_verified", "output_accepted", "receipt_holds"}
UNCOUNTED = {"turn_unfiltered", "calls_permitted", "questions_answered", "inputs_answered", "late_inputs_answered"}
"""Gates without a count: an end, a rest, and inputs that somebody has to send for each objection."""


def told(name, graph=GRAPH, forgets=None):
    """What the gate `name` said in its story, beyond plain passes, and where that led."""
    story, setup, _, _ = STORIES[name]
    play = Play(graph, forgets, **setup)
    try:
        story(play)
        end = play.state
    except HistoryError:  # the run went elsewhere, and the story could not go on
        end = None
    verdicts = (entry.record for entry in play.entries if isinstance(entry.record, Verdict))
    said = [word(verdict.ruling) for verdict in verdicts if verdict.gate == name]
    return [each for each in said if each], end


def word(ruling):
    match ruling:
        case Pass(hint=""):
            return ""
        case Pass():
            return "hints"
        case Retry():
            return RETRIES
        case Fail(code=code):
            return f"fails: {code}"
        case Suspend():
            return "suspends"


def gates(graph=GRAPH):
    asked = (guard for row in graph for guard in row.guards if isinstance(guard, Asked))
    return {guard.gate.name: guard.gate for guard in asked}


# --- the mutants ------------------------------------------------------------------------------------------------


class Stub(Gate):
    """Stands in for a gate, under its name."""

    name = may = None

    def __init__(self, real, judge):
        self.name, self.may, self.judge = real.name, real.may, judge

    def judge(self, history):
        raise NotImplementedError


def instead(stub):
    """The table with `stub` in its namesake's place."""

    def swapped(guard):
        ours = isinstance(guard, Asked) and guard.gate.name == stub.name
        return attrs.evolve(guard, gate=stub) if ours else guard

    return tuple(attrs.evolve(row, guards=tuple(map(swapped, row.guards))) for row in GRAPH)


def blinded(history):
    """The same past, in which every revision that is known is the same."""

    def blind(record):
        return attrs.evolve(record, revision="same") if record is not None and record.revision else record

    seen = copy.copy(history)
    seen.evidence = {seq: blind(record) for seq, record in history.evidence.items()}
    seen.findings = {gate: (seq, blind(record)) for gate, (seq, record) in history.findings.items()}
    seen.opinions = {gate: (seq, blind(record)) for gate, (seq, record) in history.opinions.items()}
    seen.verification, seen.receipt = blind(history.verification), blind(history.receipt)
    if history.output is not None:
        seen.output = attrs.evolve(history.output, accepted=blind(history.output.accepted))
    return seen


def refilled(name):
    """A crash after which the gate `name` counts from the beginning."""

    def forgets(history):
        history.retries = Counter({gate: times for gate, times in history.retries.items() if gate != name})
        history.hints.pop(name, None)
        match name:
            case "budget_left":
                history.turns, history.usage = 0, Usage()
            case "actions_progress":
                history.actions = Actions()
            case "tools_work":
                history.failing = {}
            case "output_correctable":
                history.retries.pop(OUTPUT_ACCEPTED, None)
            case "context_fits":
                history.overflows = 0
            case "provider_kept":
                history.passed_over = 0
            case "text_is_new":
                history.same_text = 0

    return forgets


@pytest.mark.parametrize("name", STORIES)
def test_a_gate_has_its_say_and_no_crash_on_the_way_changes_it(name):
    _, _, said, end = STORIES[name]

    assert told(name) == (said, end)


def test_every_gate_of_the_table_has_a_story():
    assert set(STORIES) == set(gates())


@pytest.mark.parametrize("name", STORIES)
def test_a_gate_that_always_passes_is_told_apart(name):
    stub = Stub(gates()[name], lambda history: Pass())

    assert told(name, instead(stub)) != told(name)


@pytest.mark.parametrize("name", sorted(REVISIONED))
def test_a_gate_that_ignores_revisions_is_told_apart(name):
    real = gates()[name]
    stub = Stub(real, lambda history: real.judge(blinded(history)))

    assert told(name, instead(stub)) != told(name)


def test_the_gates_that_use_revisions_are_known():
    reading = {name for name, gate in gates().items() if ".revision" in inspect.getsource(sys.modules[gate.__module__])}

    elsewhere = {"output_correctable", "stop_allowed"}  # it shares a file; it has them noted, and receipt_holds looks
    assert reading - elsewhere == REVISIONED - {"goal_met"}  # it rules by what independently_verified has


@pytest.mark.parametrize("name", sorted(STORIES.keys() - UNCOUNTED))
def test_a_budget_that_a_crash_refills_is_told_apart(name):
    assert told(name, forgets=refilled(name)) != told(name)


# --- the order --------------------------------------------------------------------------------------------------


def words_and_no_plan():
    return Play(permission=Permission.PLAN).put_up("done", UserInput("wait"))


def no_plan_and_no_output():
    return Play(permission=Permission.PLAN, contract=OWES_OUTPUT).put_up("done")


def no_output_and_no_words():
    return Play(contract=OWES_OUTPUT).put_up(" ")


def no_words_for_the_third_time():
    play = Play()
    for _ in range(2):
        play.put_up(" ", UserInput("wait")).move()
    return play.put_up(" ")


def announced_for_the_third_time():
    play = Play()
    for _ in range(2):
        play.put_up("Now I will run the tests.", UserInput("wait")).move()
    return play.put_up("Now I will run the tests.")


def another_provider_and_no_room():
    play = Play()
    for number in range(3):
        play.works(("bash", f'{{"n":{number}}}')).move()
    play.add(ChainChange(("m", "n")), ProviderChange(1, 1, "the other is asked"))
    return play.add(TurnFailure(Trouble.OVERFLOW, "too long"))


def another_provider_and_trouble():
    play = Play().add(ChainChange(("m", "n")), ProviderChange(1, 1, "the other is asked"))
    return play.add(TurnFailure(Trouble.DOWN, "down"))


def refused_output_and_question():
    play = Play(contract=OWES_OUTPUT)
    for number in range(2):
        play.works(("structured_output", f'{{"m":{number}}}'), status=Status.ERROR).move()
    return play.works(("structured_output", '{"m":2}'), ("ask", "{}"), status=Status.ERROR)


def neither_looked_at_nor_checked():
    play = Play(contract=Contract(checks=("test",), verify="always")).put_up().move()
    return play.add(Verification(play.history.candidate, "r1"))


def refused_and_late_words():
    play = Play().put_up().move()
    play.add(Verification(play.history.candidate)).move()
    said = HookResult("", "Stop", "hook", HookOutcome.DENIED, "no", candidate=play.history.candidate)
    return play.add(said, UserInput("wait"), StopAnswer(play.history.candidate, play.history.noted))


def late_words_and_no_goal():
    play = Play().add(GoalSet("the goal")).put_up().move()
    play.add(Verification(play.history.candidate, "r1")).move()
    return play.add(UserInput("wait"), StopAnswer(play.history.candidate, play.history.noted))


def calls_again():
    return Play().works(("bash", "{}"))


ORDER = {
    Event.REPLIED: ("turn_whole", "turn_ended", "turn_unfiltered"),
    Event.TURN_FAILED: ("context_fits", "provider_kept", "provider_answers"),
    Event.DISPATCHED: ("calls_permitted",),
    Event.SETTLED: (
        "actions_progress",
        "output_correctable",
        "questions_answered",
        "tools_work",
        "on_course",
        "window_left",
    ),
    Event.SUBMITTED: (
        "inputs_answered",
        "plan_handed_over",
        "output_accepted",
        "final_has_text",
        "text_is_new",
        "intent_carried_out",
    ),
    Event.VERIFIED: ("independently_verified", "checks_passed"),
    Event.ANSWERED: ("stop_allowed", "late_inputs_answered", "goal_met"),
    Event.FINALIZED: ("receipt_holds",),
}
"""The order is the contract. `budget_left` stands where there is work ahead, and is no part of it."""

BOTH_OBJECT = {
    ("output_correctable", "questions_answered"): refused_output_and_question,
    ("context_fits", "provider_kept"): another_provider_and_no_room,
    ("provider_kept", "provider_answers"): another_provider_and_trouble,
    ("inputs_answered", "plan_handed_over"): words_and_no_plan,
    ("plan_handed_over", "output_accepted"): no_plan_and_no_output,
    ("output_accepted", "final_has_text"): no_output_and_no_words,
    ("final_has_text", "text_is_new"): no_words_for_the_third_time,
    ("text_is_new", "intent_carried_out"): announced_for_the_third_time,
    ("independently_verified", "checks_passed"): neither_looked_at_nor_checked,
    ("stop_allowed", "late_inputs_answered"): refused_and_late_words,
    ("late_inputs_answered", "goal_met"): late_words_and_no_goal,
}
NEVER_BOTH = {
    ("turn_whole", "turn_ended"): lambda: Play().turn(Text("x"), finish=Finish.FILTERED),
    ("turn_ended", "turn_unfiltered"): lambda: Play().turn(Text("x"), finish=Finish.FILTERED),
    ("actions_progress", "output_correctable"): calls_again,
    ("tools_work", "on_course"): calls_again,
    ("on_course", "window_left"): calls_again,
}
"""Neighbours of which at most one objects to anything: their order shows in the verdicts that are committed."""
SAME_EITHER_WAY = {("questions_answered", "tools_work")}
"""The second never objects, and the first is asked before the last row whatever that names first."""


def event_of(pair):
    return next(event for event, names in ORDER.items() if pair[0] in names)


def order(graph, event):
    names = (guard.gate.name for row in graph if row.event is event for guard in row.guards if isinstance(guard, Asked))
    return tuple(name for name in dict.fromkeys(names) if name != "budget_left")


def with_places_changed(first, second, event):
    """The table in which `second` is asked before `first`: their rows, and their places within the other rows."""

    def objects(row, name):
        return any(isinstance(g, Asked) and g.gate.name == name and g.kind is not Pass for g in row.guards)

    def passing(row, name):
        return next((g for g in row.guards if isinstance(g, Asked) and g.gate.name == name and g.kind is Pass), None)

    def changed(row):
        one, two = passing(row, first), passing(row, second)
        if objects(row, second):  # it is asked first now, whoever stood before it
            return attrs.evolve(row, guards=tuple(g for g in row.guards if g != one))
        places = {one: two, two: one} if one and two else {}
        return attrs.evolve(row, guards=tuple(places.get(g, g) for g in row.guards))

    rows = [changed(row) if row.event is event else row for row in GRAPH]
    places = [n for n, row in enumerate(rows) if row.event is event and (objects(row, first) or objects(row, second))]
    moved = sorted((rows[place] for place in places), key=lambda row: objects(row, first))
    for place, row in zip(places, moved, strict=True):
        rows[place] = row
    return tuple(rows)


def test_the_order_is_as_it_is_written_here():
    assert {event: order(GRAPH, event) for event in ORDER} == ORDER


def test_every_pair_of_neighbours_is_looked_at():
    pairs = {pair for names in ORDER.values() for pair in pairwise(names)}

    assert pairs == BOTH_OBJECT.keys() | NEVER_BOTH.keys() | SAME_EITHER_WAY


@pytest.mark.parametrize("pair", BOTH_OBJECT, ids=" before ".join)
def test_where_two_object_the_first_is_heard_and_a_change_of_places_is_told_apart(pair):
    def heard(graph):
        play = BOTH_OBJECT[pair]()
        play.graph = graph
        return [name for name, ruling in play.move().asked if not isinstance(ruling, Pass) and name != "budget_left"]

    first, second = pair
    assert heard(GRAPH) == [first]
    assert heard(with_places_changed(first, second, event_of(pair))) == [second]


@pytest.mark.parametrize("pair", NEVER_BOTH, ids=" before ".join)
def test_where_only_one_objects_a_change_of_places_shows_in_the_verdicts(pair):
    def asked(graph):
        play = NEVER_BOTH[pair]()
        play.graph = graph
        return [name for name, _ in play.move().asked if name in pair]

    assert asked(GRAPH)[: len(pair)] == list(pair)
    assert asked(with_places_changed(*pair, event_of(pair))) != asked(GRAPH)
