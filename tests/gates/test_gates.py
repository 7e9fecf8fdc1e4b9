"""What each gate says to each past, and that it says so from the past alone."""

import asyncio
import copy

import attrs
import pytest
from support.past import Past

from fsm.driver import gates_at
from fsm.graph import GRAPH
from gates.checks_passed import RETRIES, checks_passed
from states.contract import Budget, Contract
from states.finalize import receipt
from states.messages import AssistantMessage, Call, Finish, Foreign, Text
from states.names import State
from states.records import (
    ApprovalAsked,
    BudgetChange,
    Candidate,
    Dispatch,
    Evidence,
    Resumed,
    StopAnswer,
    Trouble,
    TurnDiscarded,
    TurnFailure,
    UserInput,
    Verdict,
)
from states.verdicts import Fail, Pass, Retry, Suspend, WaitsFor

TEST = Contract(checks=("test",))


def last_rulings(past):
    """Verdicts of the last decision, by gate."""
    verdicts = {}
    for entry in reversed(past.entries[:-1]):
        if isinstance(entry.record, Verdict):
            verdicts[entry.record.gate] = entry.record.ruling
        elif verdicts:
            break
    return verdicts


def test_a_turn_within_budget_goes_to_its_tools():
    assert Past().calls("a").move().state is State.DISPATCH_TOOLS


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(max_turns=1), "1 of 1 turns"),
        (Budget(tokens=15), "15 of 15 tokens"),
        (Budget(max_tool_calls=1), "2 calls asked for, 1 allowed"),
    ],
)
def test_a_turn_beyond_budget_rests_before_its_tools_and_says_which_limit(budget, said):
    past = Past(budget=budget).calls("a", "b").move()

    assert past.state is State.SUSPENDED
    ruling = last_rulings(past)["budget_left"]
    assert isinstance(ruling, Suspend)
    assert ruling.waits_for is WaitsFor.BUDGET
    assert said in ruling.message


def test_seconds_count_while_the_run_is_worked_on():
    past = Past(budget=Budget(seconds=30))
    past.now += 31
    past.calls("a").move()

    assert past.state is State.SUSPENDED


def test_a_final_answer_may_use_up_the_budget():
    assert Past(budget=Budget(max_turns=1, tokens=1)).says().move().state is State.CANDIDATE_FINAL


def test_a_retry_beyond_budget_rests_instead():
    past = Past(budget=Budget(max_turns=1)).submitted(" ").move()

    assert past.state is State.SUSPENDED


def test_a_resume_without_more_budget_rests_again_and_one_with_more_goes_on():
    past = Past(budget=Budget(max_turns=1)).calls("a").move().add(Resumed()).move()
    assert past.state is State.SUSPENDED

    past.add(BudgetChange(Budget(max_turns=2)), Resumed()).move()
    assert past.state is State.DISPATCH_TOOLS


def test_truncation_asks_three_times_to_go_on_and_then_fails():
    past = Past()
    for _ in range(3):
        past.turn(Text("half"), finish=Finish.LENGTH).move()
        assert past.state is State.PROVIDER_TURN
    past.turn(Text("half"), finish=Finish.LENGTH).move()

    assert past.state is State.FAILED
    assert last_rulings(past)["turn_whole"] == Fail(
        "truncated", "the model's answers were cut off at the output limit 4 times"
    )


def test_calls_of_a_cut_turn_never_start():
    past = Past().turn(Call("call_1_0", "bash", "{}"), finish=Finish.LENGTH).move()

    assert past.state is State.PROVIDER_TURN
    assert not past.history.calls


def test_a_provider_that_paused_gets_its_own_words_back():
    past = Past().turn(Foreign("anthropic", "{}"), finish=Finish.PAUSED).move()

    assert past.state is State.PROVIDER_TURN
    assert past.history.messages[-1] == AssistantMessage((Foreign("anthropic", "{}"),))


def test_a_provider_that_only_pauses_comes_to_an_end():
    past = Past()
    for _ in range(21):
        assert past.state is State.PROVIDER_TURN
        past.turn(Text("one moment"), finish=Finish.PAUSED).move()

    assert past.state is State.FAILED


def test_a_filtered_answer_is_no_answer():
    assert Past().turn(Text("x"), finish=Finish.FILTERED).move().state is State.FAILED


@pytest.mark.parametrize(
    ("trouble", "state"),
    [
        (Trouble.CUT, State.PROVIDER_TURN),
        (Trouble.DOWN, State.SUSPENDED),
        (Trouble.REFUSED, State.FAILED),
        (Trouble.OVERFLOW, State.FAILED),
    ],
)
def test_trouble_with_the_provider_leads_where_it_should(trouble, state):
    assert Past().add(TurnFailure(trouble, "because")).move().state is state


def test_answers_that_break_off_are_asked_for_three_times_more():
    past = Past()
    for epoch in range(1, 5):
        assert past.state is State.PROVIDER_TURN
        past.add(TurnDiscarded(epoch, "cut"), TurnFailure(Trouble.CUT, "cut")).move()

    assert past.state is State.SUSPENDED


def test_a_call_that_waits_for_a_person_suspends_and_is_named():
    past = Past().calls("bash").move()
    past.add(ApprovalAsked("call_1_0", "bash", '{"command":"rm x"}'), Dispatch(past.history.turn_seq)).move()

    assert past.state is State.SUSPENDED
    assert "call_1_0 (bash" in last_rulings(past)["calls_permitted"].message


def test_an_input_that_the_candidate_did_not_see_goes_to_the_model_first():
    past = Past().says().move()
    past.add(UserInput("wait"), Candidate(past.history.turn_seq)).move()

    assert past.state is State.PROVIDER_TURN
    assert isinstance(last_rulings(past)["inputs_answered"], Retry)


def test_a_late_input_goes_to_the_model_too():
    past = Past().verified().move()
    past.add(UserInput("one more thing"), StopAnswer(past.history.candidate, 0)).move()

    assert past.state is State.PROVIDER_TURN


def test_one_blank_final_is_corrected_and_the_next_fails():
    past = Past().submitted("  ").move()
    assert past.state is State.PROVIDER_TURN

    past.submitted("\n").move()
    assert past.state is State.FAILED
    assert last_rulings(past)["final_has_text"].code == "empty_final"


def test_the_same_final_three_times_asks_for_another_strategy():
    past = Past(contract=TEST)
    for _ in range(2):
        past.verified("all done", "r1").move()
        assert past.state is State.PROVIDER_TURN
    past.submitted("all done").move()

    assert isinstance(last_rulings(past)["text_is_new"], Retry)


def passed(revision="r1", command="pytest -q", exit_status=0, kinds=("test",)):
    return Evidence(kinds, command, exit_status, revision, 9)


def test_a_check_that_passed_on_this_workspace_is_enough():
    past = Past(contract=TEST).verified(revision="r1", evidence=[passed()]).move()

    assert past.state is State.STOP_HOOK
    assert last_rulings(past)["checks_passed"].cites


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        [passed(exit_status=1)],
        [passed(revision="r0")],
        [passed(revision="")],
        [passed(kinds=("lint",))],
        [passed(), passed(command="pytest tests", exit_status=1)],
    ],
    ids=["none", "failed", "stale", "workspace moved during it", "another kind", "a newer run failed"],
)
def test_a_check_that_does_not_count_sends_the_run_back_with_the_tool_to_use(evidence):
    past = Past(contract=TEST).verified(revision="r1", evidence=evidence).move()

    assert past.state is State.PROVIDER_TURN
    assert past.history.require_tool == "bash"


def test_checks_have_a_budget_of_their_own_and_then_fail():
    past = Past(contract=TEST)
    for number in range(RETRIES):
        past.verified(f"done {number}", "r1").move()
    past.verified("really", "r1").move()

    assert past.state is State.FAILED
    assert last_rulings(past)["checks_passed"].code == "verification_failed"


def test_every_owed_check_and_command_must_have_passed():
    contract = Contract(checks=("test", "lint"), commands=("./ci.sh",))
    evidence = [passed(), passed(command="./ci.sh", kinds=())]
    past = Past(contract=contract).verified(revision="r1", evidence=evidence).move()

    assert past.state is State.PROVIDER_TURN
    assert "lint" in last_rulings(past)["checks_passed"].reason
    assert "ci.sh" not in last_rulings(past)["checks_passed"].reason


def test_only_the_newest_run_of_a_command_is_evidence():
    past = Past(contract=TEST)
    past.tool_turn(command="pytest", exit_status=0, revision_before="r1", revision_after="r1")
    past.tool_turn(command="pytest", exit_status=1, revision_before="r1", revision_after="r1")

    (found,) = asyncio.run(checks_passed.gather(past.history, None))
    assert found.exit_status == 1


def test_a_receipt_that_names_everything_holds():
    past = Past().finalized().move()

    assert past.state is State.SUCCEEDED


def forged(past, **changes):
    return attrs.evolve(receipt(past.history, ""), **changes)


@pytest.mark.parametrize(
    "drop", ["inputs_answered", "final_has_text", "text_is_new", "checks_passed", "late_inputs_answered"]
)
def test_a_receipt_without_one_pass_does_not_hold(drop):
    past = Past().answered().move()
    seq, _ = past.history.verdicts[drop]
    full = forged(past)
    past.add(forged(past, verdicts=tuple(v for v in full.verdicts if v != seq))).move()

    assert past.state is State.FAILED
    assert last_rulings(past)["receipt_holds"].code == "unjustified"


def test_new_words_after_the_seal_go_to_the_model_and_do_not_fail_the_run():
    """A crash in finalize, then a resume with a message."""
    past = Past().answered().move().add(UserInput("and also"))
    past.add(forged(past)).move()

    assert past.state is State.PROVIDER_TURN


def test_a_workspace_that_moved_after_the_check_voids_the_receipt():
    past = Past(contract=TEST).verified(revision="r1", evidence=[passed()]).move()
    past.add(StopAnswer(past.history.candidate, 0)).move()
    past.add(forged(past, revision="r2")).move()

    assert past.state is State.PROVIDER_TURN


PASTS = {
    "fresh": Past,
    "called": lambda: Past().calls("a"),
    "done": lambda: Past().says(),
    "submitted": lambda: Past().submitted(),
    "verified": lambda: Past(contract=TEST).verified(),
    "answered": lambda: Past().answered(),
    "finalized": lambda: Past().finalized(),
}


@pytest.mark.parametrize("past", PASTS)
@pytest.mark.parametrize(
    "gate", {gate.name: gate for state in State for gate in gates_at(GRAPH, state)}.values(), ids=lambda g: g.name
)
def test_a_gate_is_pure(gate, past):
    history = PASTS[past]().history
    before = copy.deepcopy(vars_of(history))

    first, second = gate.judge(history), gate.judge(history)

    assert first == second
    assert isinstance(first, (Pass, *gate.may))
    assert vars_of(history) == before


def vars_of(history):
    return {field.name: getattr(history, field.name) for field in attrs.fields(type(history))}


@pytest.mark.parametrize("said", ["Ran 0 tests in 0.000s\n\nOK", "no tests ran in 0.01s", "?   pkg  [no test files]"])
def test_a_test_command_that_tested_nothing_proves_nothing(said):
    past = Past(contract=TEST)
    past.calls("bash").move().intents().move()
    (state,) = past.history.open_calls()
    past.result(state.call.id, output=said, command="pytest", exit_status=0, revision_before="r1", revision_after="r1")

    assert asyncio.run(checks_passed.gather(past.history, None)) == ()
