"""The fold refuses what contradicts the past, and keeps what the model has to see."""

import pytest
from support.past import Past

from states.contract import Budget, Permission
from states.errors import HistoryError
from states.fold import GO_ON, fold
from states.messages import AssistantMessage, Call, Finish, Text, ToolMessage, UserMessage, text_of
from states.names import Event, State
from states.records import (
    Approval,
    ApprovalAsked,
    AssistantTurn,
    Baseline,
    Cancellation,
    Candidate,
    Dispatch,
    Entry,
    Fate,
    Finalized,
    HookOutcome,
    HookResult,
    Prestart,
    PrestartsDropped,
    Resumed,
    RunStarted,
    Settlement,
    Status,
    StopAnswer,
    ToolIntent,
    ToolResult,
    Transition,
    Trouble,
    TurnDiscarded,
    TurnFailure,
    UserInput,
    Verification,
)


def test_replaying_the_entries_gives_the_same_history():
    past = Past().tool_turn().tool_turn().finalized().move()
    again = fold("s", past.entries)

    assert again.state is State.SUCCEEDED
    assert again.messages == past.history.messages
    assert again.verdicts == past.history.verdicts
    assert (again.turns, again.tool_calls, again.usage) == (3, 2, past.history.usage)


def test_results_stand_in_the_models_order_whatever_order_they_landed_in():
    past = Past().calls("a", "b", "c").move().intents().move()
    past.result("call_1_2", output="third").result("call_1_0", output="first").result("call_1_1", output="second")

    answers = [message for message in past.history.messages if isinstance(message, ToolMessage)]
    assert [answer.text for answer in answers] == ["first", "second", "third"]


def test_an_input_during_open_calls_waits_until_they_are_answered():
    past = Past().calls("a").move().intents().move().add(UserInput("wait!"))

    assert isinstance(past.history.messages[-1], AssistantMessage)
    past.result("call_1_0")
    assert [type(message) for message in past.history.messages[-2:]] == [ToolMessage, UserMessage]


def test_a_cut_turn_opens_no_call_and_shows_none():
    past = Past().turn(Text("half"), Call("call_1_0", "write_file", '{"path": "a'), finish=Finish.LENGTH)

    assert past.history.open_calls() == []
    assert past.history.messages[-1] == AssistantMessage((Text("half"),))


def test_a_blank_turn_leaves_no_message():
    past = Past().says("  \n")

    assert past.history.messages == [UserMessage("do it")]


def test_rest_between_claims_and_while_suspended_costs_no_seconds():
    past = Past()
    past.now = 107.0
    past.says("x").move()
    past.fence, past.now = 2, 500.0
    past.add(Cancellation("stop")).move()
    past.now = 900.0
    past.add(Resumed())

    assert past.history.seconds == 7.0


def test_the_words_of_a_cut_answer_are_the_beginning_of_the_next():
    past = Past().says("one, ", finish=Finish.LENGTH).move().says("two")

    assert past.history.text == "one, two"


def test_what_a_continuation_repeats_is_read_once_and_kept_as_it_came():
    past = Past().says("The quick brown fox jumps over", finish=Finish.LENGTH).move()
    past.says("brown fox jumps over the lazy dog, and then it", finish=Finish.LENGTH).move()
    past.says("lazy dog, and then it sleeps.")

    assert past.history.text == "The quick brown fox jumps over the lazy dog, and then it sleeps."
    said = [text_of(m.blocks) for m in past.history.messages if isinstance(m, AssistantMessage)]
    assert said[1:] == ["brown fox jumps over the lazy dog, and then it", "lazy dog, and then it sleeps."]


def test_a_pause_is_no_cut_and_its_words_go_on_as_they_are():
    past = Past().says("The quick brown fox jumps over", finish=Finish.PAUSED).move()
    past.says("The quick brown fox jumps over")

    assert past.history.text == "The quick brown fox jumps over" * 2


def test_a_cut_answer_is_forgotten_by_the_next_run():
    past = Past().says("one, ", finish=Finish.LENGTH)
    past.add(Transition(State.PROVIDER_TURN, Event.REPLIED, State.FAILED, (past.history.seq,)))
    past.add(RunStarted(2, "g", "t", "m"), UserInput("and now this")).says("two")

    assert past.history.text == "two"


def test_a_resumed_conversation_does_not_end_in_the_models_own_words():
    past = Past().says("half done").move().add(Cancellation()).move().add(Resumed())

    assert past.history.messages[-1] == UserMessage(GO_ON)


def test_a_new_run_forgets_the_budget_spent_and_keeps_the_conversation():
    past = Past().finalized().move()
    seen = len(past.history.messages)
    past.add(RunStarted(2, "g", "t", "m"), UserInput("and now this"))

    assert past.history.state is State.PROVIDER_TURN
    assert (past.history.turns, past.history.run) == (0, 2)
    assert len(past.history.messages) == seen + 1
    assert past.calls("a").history.calls.keys() == {"call_2_0"}


def early(order=0, **more):
    return Prestart(f"call_1_{order}", "a", "{}", order, **more)


def a_turn(*names, **more):
    calls = (Call(f"call_1_{order}", name, "{}") for order, name in enumerate(names))
    return AssistantTurn(tuple(calls), more.pop("finish", Finish.CALLS), 2, **more)


def dropped(*intents, epoch=1):
    return PrestartsDropped(epoch, "cut", tuple(Fate(intent, Status.CANCELLED) for intent in intents))


def test_a_turn_adopts_the_calls_that_ran_ahead_of_it():
    past = Past().add(early(), early(1), a_turn("a", "a", "b"))

    first, second, third = past.history.calls.values()
    assert (first.intent, second.intent, third.intent) == (3, 4, None)
    assert first.read_only
    assert first.shared
    assert first.prestarted
    assert past.history.early == {}
    past.move().add(ToolResult("call_1_0", Status.OK, "x"))


def test_dropping_what_ran_ahead_begins_an_epoch_and_frees_its_ids():
    past = Past().add(early(), dropped(3))

    assert (past.history.epoch, past.history.early) == (1, {})
    past.add(early(epoch=1), a_turn("a", epoch=1))
    assert past.history.calls["call_1_0"].intent == 5


def lost():
    past = Past().add(early())
    past.fence = 2
    return past


REFUSED = {
    "an early start at rest": (lambda p: p.add(Cancellation()).move(), early()),
    "an early start over a turn that is there": (lambda p: p.says(), early()),
    "an early start of another epoch": (lambda p: p, early(epoch=1)),
    "early starts out of order": (lambda p: p, early(1)),
    "an early start twice": (lambda p: p.add(early()), early()),
    "an early start under another turn's id": (lambda p: p, Prestart("call_2_0", "a", "{}", 0)),
    "an early start beside those of a lost process": (lambda p: lost(), early(1)),
    "a turn that adopts what a lost process started": (lambda p: lost(), a_turn("a")),
    "a turn that leaves out what started early": (lambda p: p.add(early()), a_turn()),
    "a turn that has another call in its place": (lambda p: p.add(early()), a_turn("b")),
    "a turn that was cut off adopts calls": (lambda p: p.add(early()), a_turn("a", finish=Finish.LENGTH)),
    "a turn that was withheld adopts calls": (lambda p: p.add(early()), a_turn("a", finish=Finish.FILTERED)),
    "a failed turn over early starts": (lambda p: p.add(early()), TurnFailure(Trouble.CUT, "cut")),
    "a new epoch over early starts": (lambda p: p.add(early()), TurnDiscarded(1, "cut")),
    "a cancellation over early starts": (lambda p: p.add(early()), Cancellation()),
    "a result before its turn": (lambda p: p.add(early()), ToolResult("call_1_0", Status.OK, "")),
    "a late result of what was dropped": (
        lambda p: p.add(early(), dropped(3), a_turn("a", epoch=1)),
        ToolResult("call_1_0", Status.OK, ""),
    ),
    "nothing is dropped": (lambda p: p, dropped()),
    "not all that started early is dropped": (lambda p: p.add(early(), early(1)), dropped(3)),
    "early starts are dropped within their epoch": (lambda p: p.add(early()), dropped(3, epoch=0)),
    "a gap in the sequence": (lambda p: p, Entry(9, 0.0, 1, UserInput("x"))),
    "a second run before the first has ended": (lambda p: p, RunStarted(2, "g", "t", "m")),
    "a turn outside provider_turn": (lambda p: p.says().move(), AssistantTurn((Text("x"),), Finish.STOP, 2)),
    "a second turn for one request": (lambda p: p.says(), AssistantTurn((Text("x"),), Finish.STOP, 2)),
    "a turn of a dead epoch": (lambda p: p.add(TurnDiscarded(1, "cut")), AssistantTurn((Text("x"),), Finish.STOP, 2)),
    "an epoch that jumps": (lambda p: p, TurnDiscarded(2, "cut")),
    "two calls with one id": (
        lambda p: p,
        AssistantTurn((Call("c", "a", "{}"), Call("c", "a", "{}")), Finish.CALLS, 2),
    ),
    "an intent for no call": (lambda p: p.calls("a").move(), ToolIntent("nope", "a", "{}", 0)),
    "intents out of order": (lambda p: p.calls("a", "b").move(), ToolIntent("call_1_1", "b", "{}", 1)),
    "a second intent": (
        lambda p: p.calls("a").move().add(ToolIntent("call_1_0", "a", "{}", 0)),
        ToolIntent("call_1_0", "a", "{}", 0),
    ),
    "a good result without an intent": (lambda p: p.calls("a").move(), ToolResult("call_1_0", Status.OK, "")),
    "a second result": (
        lambda p: p.calls("a", "b").move().intents().result("call_1_0"),
        ToolResult("call_1_0", Status.OK, ""),
    ),
    "a result of a dead epoch": (
        lambda p: p.calls("a").move().intents(),
        ToolResult("call_1_0", Status.OK, "", epoch=7),
    ),
    "settled with open calls": (lambda p: p.calls("a").move().intents().move(), Settlement(3)),
    "a dispatch of another turn": (lambda p: p.calls("a").move(), Dispatch(1)),
    "an approval that nobody asked for": (lambda p: p.calls("a").move(), Approval("call_1_0", granted=True)),
    "a second answer to one question": (
        lambda p: p.calls("a").move().add(ApprovalAsked("call_1_0", "a", "{}"), Approval("call_1_0", granted=False)),
        Approval("call_1_0", granted=True),
    ),
    "a candidate of an older turn": (lambda p: p.says().move(), Candidate(2)),
    "a second candidate of one turn": (lambda p: p.submitted(), Candidate(3)),
    "a verification of an older candidate": (lambda p: p.submitted().move(), Verification(1)),
    "an answer about an older candidate": (lambda p: p.verified().move(), StopAnswer(1, 0)),
    "a receipt for an older candidate": (lambda p: p.answered().move(), Finalized(1, "done")),
    "a move on something that did not happen": (
        lambda p: p.says(),
        Transition(State.PROVIDER_TURN, Event.SETTLED, State.SUCCEEDED, (3,)),
    ),
    "a move from another state": (
        lambda p: p.says(),
        Transition(State.FINALIZE, Event.REPLIED, State.SUCCEEDED, (3,)),
    ),
    "a move that rests on nothing": (
        lambda p: p.says(),
        Transition(State.PROVIDER_TURN, Event.REPLIED, State.CANDIDATE_FINAL, ()),
    ),
    "a note that was taken before": (lambda p: p.add(UserInput("a", inbox=2)), UserInput("b", inbox=2)),
    "resumed while running": (lambda p: p, Resumed()),
    "resumed after the end": (lambda p: p.finalized().move(), Resumed()),
    "an intent for a call that a person refused": (
        lambda p: p.calls("a").move().add(ApprovalAsked("call_1_0", "a", "{}"), Approval("call_1_0", granted=False)),
        ToolIntent("call_1_0", "a", "{}", 0),
    ),
    "a dispatch before the move to dispatch_tools": (lambda p: p.calls("a"), Dispatch(3)),
    "a settlement before the move to await_results": (
        lambda p: p.calls("a").move().intents().result("call_1_0"),
        Settlement(3),
    ),
    "a candidate before the move to candidate_final": (lambda p: p.says(), Candidate(3)),
    "a verification before the move to verify": (lambda p: p.submitted(), Verification(8)),
    "an answer before the move to stop_hook": (lambda p: p.verified(), StopAnswer(8, 0)),
    "a receipt before the move to finalize": (lambda p: p.answered(), Finalized(8, "done")),
    "a receipt straight after the candidate": (lambda p: p.submitted(), Finalized(8, "other words", (990, 991))),
    "an epoch that ends with open calls": (lambda p: p.calls("a").move().intents(), TurnDiscarded(1, "cut")),
    "a cancellation at rest": (lambda p: p.add(Cancellation()).move(), Cancellation()),
    "a cancellation after the end": (lambda p: p.finalized().move(), Cancellation()),
}


@pytest.mark.parametrize("record", [UserInput("x"), Cancellation(), Resumed(), TurnDiscarded(1, "cut")])
def test_the_fold_refuses_what_comes_before_any_run(record):
    with pytest.raises(HistoryError, match="record 1 of s: it comes before any run"):
        fold("s", [Entry(1, 0.0, 1, record)])


@pytest.mark.parametrize("case", REFUSED)
def test_the_fold_refuses(case):
    build, record = REFUSED[case]
    past = build(Past())
    entry = record if isinstance(record, Entry) else Entry(past.history.seq + 1, 0.0, past.fence, record)

    with pytest.raises(HistoryError, match=rf"record {entry.seq}"):
        fold("s", [*past.entries, entry])


def test_a_move_may_not_rest_on_evidence_that_an_earlier_move_has_spent():
    past = Past().submitted()
    history = past.history
    spent, fresh = history.turn_seq, history.closing

    def moved(*rests_on):
        move = Transition(State.CANDIDATE_FINAL, Event.SUBMITTED, State.VERIFY, rests_on)
        return fold("s", [*past.entries, Entry(history.seq + 1, 0.0, 1, move)])

    assert moved(fresh).state is State.VERIFY
    with pytest.raises(HistoryError, match=rf"evidence \[{spent}\] is spent"):
        moved(fresh, spent)


def _back_to_the_model(past):
    """A forged move: the fold does not know the table."""
    move = Transition(State.PROVIDER_TURN, Event.REPLIED, State.PROVIDER_TURN, (past.history.closing,))
    return past.add(move)


def _turn(past):
    return AssistantTurn((Text("x"),), Finish.STOP, past.history.seq)


def approved(call):
    return ApprovalAsked(call, "act", "{}"), Approval(call, granted=True)


WHY = {
    "a run starts with open calls": (
        lambda: Past().turn(Call("call_1_0", "a", "{}"), finish=Finish.FILTERED).move(),
        lambda past: RunStarted(2, "g", "t", "m"),
    ),
    "run 2 is due, not 3": (lambda: Past().finalized().move(), lambda past: RunStarted(3, "g", "t", "m")),
    "lacked a committed input": (
        lambda: Past().add(UserInput("wait")),
        lambda past: AssistantTurn((Text("x"),), Finish.STOP, past.history.last_input - 1),
    ),
    "a turn while calls are open": (lambda: _back_to_the_model(Past().calls("a")), _turn),
    "a failed turn in candidate_final": (
        lambda: Past().says().move(),
        lambda past: TurnFailure(Trouble.DOWN, "x"),
    ),
    "a second end of one activity": (lambda: Past().says(), lambda past: TurnFailure(Trouble.DOWN, "x")),
    "an epoch ends in dispatch_tools": (lambda: Past().calls("a").move(), lambda past: TurnDiscarded(1, "cut")),
    "an epoch ends with open calls": (
        lambda: _back_to_the_model(Past().calls("a")),
        lambda past: TurnDiscarded(1, "cut"),
    ),
    "an intent in provider_turn": (lambda: Past().calls("a"), lambda past: ToolIntent("call_1_0", "a", "{}", 0)),
    "an intent of dead epoch 3": (
        lambda: Past().calls("a").move(),
        lambda past: ToolIntent("call_1_0", "a", "{}", 0, epoch=3),
    ),
    "intents out of the model's order": (
        lambda: Past().calls("a", "b").move(),
        lambda past: ToolIntent("call_1_0", "a", "{}", 1),
    ),
    "a result in suspended": (
        lambda: Past(budget=Budget(max_turns=1)).calls("a").move(),
        lambda past: ToolResult("call_1_0", Status.ERROR, ""),
    ),
    "which may not start unasked": (
        lambda: Past(permission=Permission.ASK).calls("act").move(),
        lambda past: ToolIntent("call_1_0", "act", "{}", 0, leave="permission full"),
    ),
    "'call_1_0', which may not start unasked": (
        lambda: Past(permission=Permission.ASK).calls("act").move(),
        lambda past: ToolIntent("call_1_0", "act", "{}", 0, leave="allow act"),
    ),
    "an intent for 'call_1_0', which may not start unasked": (
        lambda: Past(permission=Permission.PLAN).calls("act").move().add(*approved("call_1_0")),
        lambda past: ToolIntent("call_1_0", "act", "{}", 0),
    ),
    "a settlement of another turn": (
        lambda: Past().calls("a").move().intents().move().result("call_1_0"),
        lambda past: Settlement(1),
    ),
    "a second baseline of g": (lambda: Past().add(Baseline("g", {})), lambda past: Baseline("g", {})),
    "a baseline after the run has begun to work": (lambda: Past().says(), lambda past: Baseline("g", {})),
}


@pytest.mark.parametrize("why", WHY)
def test_the_fold_says_why_it_refuses(why):
    """By its words: a refusal for another reason would not do."""
    build, record = WHY[why]
    past = build()

    with pytest.raises(HistoryError, match=why):
        past.add(record(past))


def hooked(outcome, **more):
    return Past().calls("act").move().add(HookResult("call_1_0", "PreToolUse", "guard", outcome, **more))


def test_no_call_that_a_hook_denied_is_started():
    with pytest.raises(HistoryError, match="which a hook denied"):
        hooked(HookOutcome.DENIED).add(ToolIntent("call_1_0", "act", "{}", 0))


@pytest.mark.parametrize("read_only", [False, True])
def test_a_call_that_a_hook_asks_about_starts_only_with_an_approval(read_only):
    intent = ToolIntent("call_1_0", "act", "{}", 0, read_only=read_only)

    with pytest.raises(HistoryError, match="which may not start unasked"):
        hooked(HookOutcome.ASKED).add(intent)
    assert hooked(HookOutcome.ASKED).add(*approved("call_1_0"), intent).history.calls["call_1_0"].intent


def test_what_a_hook_changed_voids_the_approval_before_it():
    asked = Past(permission=Permission.ASK).calls("act").move().add(*approved("call_1_0"))
    changed = asked.add(HookResult("call_1_0", "PreToolUse", "guard", HookOutcome.CHANGED, arguments='{"a":1}'))

    with pytest.raises(HistoryError, match="which may not start unasked"):
        changed.add(ToolIntent("call_1_0", "act", '{"a":1}', 0))


def test_a_call_starts_only_as_a_hook_made_it():
    changed = {"outcome": HookOutcome.CHANGED, "arguments": '{"a":1}'}

    with pytest.raises(HistoryError, match="with other input than a hook made of it"):
        hooked(**changed).add(ToolIntent("call_1_0", "act", "{}", 0))
    assert hooked(**changed).add(ToolIntent("call_1_0", "act", '{"a":1}', 0)).history.calls["call_1_0"].intent


def test_an_approval_is_for_exactly_the_input_that_was_shown():
    asked = Past(permission=Permission.ASK).calls("act").move().add(*approved("call_1_0"))

    with pytest.raises(HistoryError, match="with other input than a person was shown"):
        asked.add(ToolIntent("call_1_0", "act", '{"a":1}', 0))


def stopped(outcome=HookOutcome.PASSED, said="", **more):
    """What a stop hook said about the candidate that is judged."""
    return lambda past: HookResult(
        more.get("call", ""),
        "Stop",
        "guard",
        outcome,
        said,
        more.get("arguments", ""),
        candidate=past.history.candidate + more.get("off", 0),
    )


def about_to_stop():
    return Past().verified().move()


@pytest.mark.parametrize(
    ("past", "record", "why"),
    [
        (Past().verified, stopped(), "a stop hook's answer in verify"),
        (about_to_stop, stopped(off=-1), "about another candidate"),
        (Past().answered, stopped(), "after the seal"),
        (about_to_stop, stopped(call="call_1_0"), "about a call"),
        (about_to_stop, stopped(arguments="{}"), "about a call"),
        (about_to_stop, stopped(HookOutcome.ASKED, "really?"), "a stop hook that asked"),
        (about_to_stop, stopped(HookOutcome.DENIED, " "), "a refusal without a reason"),
        (lambda: about_to_stop().add(stopped(HookOutcome.DENIED, "no")(about_to_stop())), stopped(), "had refused"),
    ],
)
def test_an_answer_about_a_stop_that_contradicts_what_is_known_is_refused(past, record, why):
    there = past()

    with pytest.raises(HistoryError, match=why):
        there.add(record(there))


def test_what_stop_hooks_said_is_forgotten_with_its_candidate():
    past = about_to_stop()
    past.add(stopped(HookOutcome.FAILED, "broken")(past), stopped(HookOutcome.DENIED, "no")(past))
    assert [said.said for _, said in past.history.stop_hooks] == ["broken", "no"]

    past.add(StopAnswer(past.history.candidate, past.history.noted)).move().says("done")
    assert past.history.stop_hooks == ()
