"""What a run is told, and when it is stopped, because of how its turns went: each detector with its own counter."""

import pytest
from support.past import Past

from fsm.agents.report import working
from fsm.graph import GRAPH
from gates.actions_progress import HALT, HINT, WARN, actions_progress
from gates.gate import Gate
from gates.on_course import EVERY, on_course
from gates.on_course import HINT as REVIEW
from gates.text_is_new import RETRIES, SAME, text_is_new
from gates.tools_work import STREAK, tools_work
from states.actions import Actions, batch_digest
from states.contract import Budget
from states.fold import fold
from states.messages import Call, ToolMessage, UserMessage
from states.names import State
from states.records import Candidate, Dispatch, Status, ToolIntent, ToolResult, UserInput, Verdict, Verification
from states.verdicts import Fail, Pass, Retry


def turn(past, *calls, status=Status.OK, output="same", **metadata):
    """A tool turn: `calls` are names, or names with their arguments, or with arguments and output."""
    wanted = [call if isinstance(call, tuple) else (call,) for call in calls]
    number = past.history.turn_count + 1
    asked = [Call(f"call_{number}_{n}", each[0], each[1] if len(each) > 1 else "{}") for n, each in enumerate(wanted)]
    past.turn(*asked).move()
    for order, (call, each) in enumerate(zip(asked, wanted, strict=True)):
        past.add(ToolIntent(call.id, call.name, each[1] if len(each) > 1 else "{}", order, past.history.epoch))
    past.add(Dispatch(past.history.turn_seq)).move()
    for call, each in zip(asked, wanted, strict=True):
        said = each[2] if len(each) > 2 else output
        past.add(ToolResult(call.id, status, said, metadata, epoch=past.history.epoch))
    return past.settle().move()


def hints(past, gate):
    return [
        (index, entry.record.ruling.hint)
        for index, entry in enumerate(past.entries)
        if isinstance(entry.record, Verdict)
        and entry.record.gate == gate.name
        and isinstance(entry.record.ruling, Pass)
        and entry.record.ruling.hint
    ]


def end(past):
    """The ruling that ended the run."""
    return next(e.record.ruling for e in reversed(past.entries) if isinstance(e.record, Verdict))


def crashed(past):
    """The same past, read from its journal by another process."""
    twin = Past()
    twin.entries, twin.history, twin.fence = list(past.entries), fold("s", past.entries), past.fence + 1
    twin.now = past.now
    return twin


# --- a tool that fails over and over ----------------------------------------------------------------------------


def test_a_tool_that_fails_again_brings_a_hint_from_the_third_time_on():
    past = Past()
    for number in range(1, STREAK + 2):
        turn(past, ("bash", f'{{"n":{number}}}'), status=Status.ERROR)
        assert len(hints(past, tools_work)) == max(0, number - STREAK + 1)

    assert past.state is State.PROVIDER_TURN
    assert "bash (4 times)" in hints(past, tools_work)[-1][1]


def test_a_hint_goes_to_the_model_behind_the_results_and_costs_no_turn():
    past = Past()
    for number in range(STREAK):
        turn(past, ("bash", f'{{"n":{number}}}'), status=Status.ERROR)

    result, hint = past.history.messages[-2:]
    assert isinstance(result, ToolMessage)
    assert isinstance(hint, UserMessage)
    assert "change your approach" in hint.text
    assert past.history.turns == STREAK
    assert past.history.retries.total() == 0


def test_a_success_ends_the_streak_of_that_tool_only():
    past = Past()
    for number in range(STREAK - 1):
        turn(past, ("bash", f'{{"n":{number}}}'), ("grep", f'{{"n":{number}}}'), status=Status.ERROR)
    turn(past, ("bash", '{"ok":1}'))
    turn(past, ("bash", '{"n":9}'), ("grep", '{"n":9}'), status=Status.ERROR)

    ((_, said),) = hints(past, tools_work)
    assert "grep (3 times)" in said
    assert "bash" not in said


@pytest.mark.parametrize(("status", "counts"), [(Status.DENIED, 1), (Status.UNKNOWN, 1), (Status.CANCELLED, 0)])
def test_what_a_person_stopped_is_no_failure_of_the_tool(status, counts):
    past = Past()
    for number in range(STREAK):
        turn(past, ("bash", f'{{"n":{number}}}'), status=status)

    assert len(hints(past, tools_work)) == counts


def test_a_crash_does_not_forget_the_streak():
    past = Past()
    for number in range(STREAK - 1):
        turn(past, ("bash", f'{{"n":{number}}}'), status=Status.ERROR)
    past = turn(crashed(past), ("bash", '{"n":9}'), status=Status.ERROR)

    assert len(hints(past, tools_work)) == 1


# --- looking at oneself -----------------------------------------------------------------------------------------


def test_every_fifth_turn_the_model_is_asked_to_look_at_where_it_stands():
    past = Past()
    for number in range(1, 2 * EVERY + 1):
        turn(past, ("bash", f'{{"n":{number}}}'))
        assert len(hints(past, on_course)) == number // EVERY

    assert past.history.messages[-1] == UserMessage(REVIEW)


def test_a_review_that_fell_due_on_a_turn_without_tools_is_made_up_for():
    past = Past()
    for number in range(EVERY - 1):
        turn(past, ("bash", f'{{"n":{number}}}'))
    past.submitted(" ").move()
    assert past.history.turns == EVERY
    assert not hints(past, on_course)
    past = turn(crashed(past), ("bash", '{"n":9}'))

    assert len(hints(past, on_course)) == 1
    turn(past, ("bash", '{"n":10}'))
    assert len(hints(past, on_course)) == 1


# --- standing still ---------------------------------------------------------------------------------------------


def test_the_same_call_with_the_same_result_is_warned_about_once_and_then_stops_the_run():
    past = Past(budget=Budget(max_turns=None))
    for number in range(1, HALT):
        turn(past, "look")
        assert past.state is State.PROVIDER_TURN
        assert len(hints(past, actions_progress)) == (number >= WARN)
    turn(past, "look")

    assert past.state is State.FAILED
    assert end(past).code == "stuck"
    assert "16 times" in end(past).message
    assert hints(past, actions_progress)[0][1] == HINT


def test_a_crash_does_not_refill_what_standing_still_has_used_up():
    past = Past(budget=Budget(max_turns=None))
    for _ in range(HALT - 1):
        past = turn(crashed(past), "look")
    past = turn(crashed(past), "look")

    assert past.state is State.FAILED


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_cycle_is_seen(period):
    past = Past(budget=Budget(max_turns=None))
    turns = 0
    while past.state is not State.FAILED and turns < 3 * HALT:
        turn(past, f"tool_{turns % period}")
        turns += 1

    assert turns == HALT - 1 + period
    assert end(past).code == "stuck"


def test_a_cycle_longer_than_four_is_not():
    past = Past(budget=Budget(max_turns=None))
    for number in range(40):
        turn(past, f"tool_{number % 5}")

    assert past.state is State.PROVIDER_TURN
    assert not hints(past, actions_progress)


@pytest.mark.parametrize(
    "change",
    [
        lambda past, n: turn(past, ("look", "{}", f"line {n}")),
        lambda past, n: turn(past, ("look", f'{{"n":{n}}}')),
        lambda past, n: turn(past, "look", status=Status.OK if n % 7 else Status.ERROR),
        lambda past, n: turn(past, "look", revision_after=f"r{n}"),
        lambda past, n: turn(past, *["look"] * (1 + n % 6)),
        lambda past, n: turn(past, "bash_output", output="[12:00:01] building", background="bg_1", progress=n),
        lambda past, n: turn(past, "task_output", output="at work", **working("scout", "s:1", n).metadata),
    ],
    ids=[
        "another result",
        "other arguments",
        "another status",
        "another workspace",
        "another batch",
        "a background command that goes on",
        "an agent that goes on",
    ],
)
def test_whatever_is_new_is_progress(change):
    past = Past(budget=Budget(max_turns=None))
    for number in range(HALT + 4):
        change(past, number)

    assert past.state is State.PROVIDER_TURN
    assert not hints(past, actions_progress)


@pytest.mark.parametrize("metadata", [{"progress": 7}, working("scout", "s:1", 7).metadata], ids=["command", "agent"])
def test_looking_at_something_that_does_not_go_on_is_standing_still(metadata):
    past = Past(budget=Budget(max_turns=None))
    for _ in range(HALT):
        turn(past, "look", output="still at work", **metadata)

    assert past.state is State.FAILED


def test_a_cycle_that_is_left_before_the_limit_is_forgiven():
    past = Past(budget=Budget(max_turns=None))
    for number in range(HALT):
        turn(past, f"tool_{number % 2}")
    turn(past, "something else")

    assert past.history.actions.still == 1
    assert len(hints(past, actions_progress)) == 1
    assert past.state is State.PROVIDER_TURN


def test_times_and_addresses_are_nothing_new():
    past = Past(budget=Budget(max_turns=None))
    for number in range(HALT):
        said = f"3 failed in 0.{number}s at 2026-01-0{1 + number % 9} 10:{10 + number}:00 <object at 0x7f{number}>"
        turn(past, ("look", "{}", said))

    assert past.state is State.FAILED


def test_the_order_of_arguments_is_nothing_new_and_calls_that_never_start_count():
    past = Past(budget=Budget(max_turns=None))
    for number in range(HALT):
        past.turn(Call(f"call_{past.history.turn_count + 1}_0", "look", "{oops")).move()
        (state,) = past.history.open_calls()
        past.result(state.call.id, Status.ERROR, "no JSON").add(Dispatch(past.history.turn_seq)).move()
        assert past.state is State.AWAIT_RESULTS, number
        past.settle().move()

    assert past.state is State.FAILED


@pytest.mark.parametrize(
    "interrupt",
    [
        lambda past: past.add(UserInput("try something else")),
        lambda past: past.submitted(" ").move(),
    ],
    ids=["words of a person", "a turn without tools"],
)
def test_standing_still_begins_anew_after(interrupt):
    past = Past(budget=Budget(max_turns=None))
    for _ in range(HALT - 1):
        turn(past, "look")
    interrupt(past)
    turn(past, "look")

    assert past.state is State.PROVIDER_TURN
    assert past.history.actions.still == 1


def test_a_run_that_stands_still_fails_even_if_its_budget_is_spent_at_the_same_time():
    past = Past(budget=Budget(max_turns=None, tokens=15 * HALT))
    for _ in range(HALT - 1):
        turn(past, "look")
    past.turn(Call(f"call_{HALT}_0", "look", "{}"), usage=past.history.usage.__class__(0, 0)).move()
    past.intents().move()
    past.result(f"call_{HALT}_0", output="same").settle()

    assert isinstance(actions_progress.judge(past.history), Fail)


def test_a_batch_is_its_names_arguments_and_results_and_nothing_runs_together():
    def digest(*calls):
        return batch_digest((name, arguments, ToolResult("c", Status.OK, said)) for name, arguments, said in calls)

    different = {
        digest(),
        digest(("a", "b", "c")),
        digest(("ab", "", "c")),
        digest(("a", "bc", "")),
        digest(("a", "b", "c"), ("a", "b", "c")),
    }
    assert len(different) == 5


def test_an_empty_past_stands_on_nothing():
    assert Actions().still == 0
    assert Actions().after(b"a").still == 1
    assert Actions().after(b"a").after(b"a").still == 2
    assert Actions().after(b"a").after(b"b").still == 1


# --- saying the same ---------------------------------------------------------------------------------------------


class Unmoved(Gate):
    """Finds every candidate wanting, without end: what then ends a run is the repeated text."""

    name = "unmoved"
    may = (Retry,)

    def judge(self, history):
        return Retry("something is missing", "Something is missing.")


STRICT = GRAPH.with_gate(Unmoved(), "verify")


def final(past, text):
    past.says(text).move(STRICT).add(Candidate(past.history.turn_seq)).move(STRICT)
    if past.state is State.VERIFY:
        past.add(Verification(past.history.candidate)).move(STRICT)
    return past


def asked(past):
    return sum(
        isinstance(entry.record, Verdict)
        and entry.record.gate == text_is_new.name
        and isinstance(entry.record.ruling, Retry)
        for entry in past.entries
    )


def test_every_third_time_the_same_final_asks_for_another_strategy_and_then_the_run_is_stuck():
    past = Past()
    for number in range(1, SAME * (RETRIES + 1)):
        past = final(crashed(past), "all done")  # a crash before each: it refills nothing
        assert past.state is State.PROVIDER_TURN
        assert asked(past) == number // SAME
    final(past, "all done")

    assert past.state is State.FAILED
    assert end(past) == Fail("stuck", "the model gave the same final answer 9 times")


def test_space_around_a_text_makes_no_other_text():
    past = Past()
    for text in ("all done", " all done", "all done\n"):
        final(past, text)

    assert asked(past) == 1


def test_another_text_begins_the_count_anew():
    past = Past()
    for text in ("all done", "all done", "well, nearly", "all done", "all done"):
        final(past, text)

    assert asked(past) == 0
    assert past.history.same_text == SAME - 1


# --- each its own counter ----------------------------------------------------------------------------------------


def counters(past):
    history = past.history
    return {
        tools_work: max(history.failing.values(), default=0),
        on_course: history.hints.get(on_course.name, 0),
        actions_progress: max(0, history.actions.still - 1),
        text_is_new: max(0, history.same_text - 1),
    }


@pytest.mark.parametrize(
    ("detector", "provoke"),
    [
        (tools_work, lambda past, n: turn(past, ("look", f'{{"n":{n}}}'), status=Status.ERROR)),
        (actions_progress, lambda past, n: turn(past, "look")),
        (text_is_new, lambda past, n: final(past, "all done")),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_what_one_detector_counts_is_nothing_to_the_others(detector, provoke):
    past = Past()
    for number in range(EVERY - 1):
        provoke(past, number)

    counted = counters(past)
    assert counted.pop(detector) > 1
    assert set(counted.values()) == {0}
