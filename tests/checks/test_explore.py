"""The exhaustive search: what it covers is pinned, and what it must find it finds, with a short story."""

from types import SimpleNamespace

import attrs
import pytest

from fsm.checks import Broken, explore
from fsm.checks.abstraction import View
from fsm.checks.claims import JUDGED, STANDARD, hooks_are_heeded, passes_of
from fsm.checks.table_walk import Sheet, first_row
from fsm.checks.world import STARTED, proofs
from fsm.graph import AT_CANDIDATE, AT_VERIFY, GRAPH, Row, table
from gates import turn_ended
from gates.gate import Gate
from gates.inputs_answered import inputs_answered
from gates.permission import permit
from states.fold import calls
from states.names import Event, State
from states.records import HookOutcome, Verification
from states.rules import Leave, Permit, Rules
from states.verdicts import Fail, Pass, Retry, WaitsFor


@pytest.fixture(scope="module")
def report():
    return explore.checked(GRAPH)


def test_the_number_of_explored_states_is_pinned(report):
    """A change here is a change of what a run can do: look at it, then pin it anew."""
    assert (report.states, report.transitions, report.refused) == (84191, 262252, 65973)


def test_every_row_is_taken(report):
    assert set(report.rows) == set(GRAPH)


def test_every_row_but_those_of_a_failed_store_has_an_honest_path(report):
    assert set(report.paths) == {row for row in GRAPH if row.event is not Event.COMMIT_FAILED}
    assert max(len(path) for path in report.paths.values()) < 120


def test_every_gate_that_counts_runs_out(report):
    assert report.counted == {
        "checks_passed",
        "final_has_text",
        "goal_met",
        "independently_verified",
        "intent_carried_out",
        "plan_handed_over",
        "output_accepted",
        "provider_answers",
        "receipt_holds",
        "stop_allowed",
        "text_is_new",
        "turn_ended",
        "turn_whole",
    }
    assert report.codes >= {"verification_failed", "empty_final", "stuck", "truncated"}


def test_runs_rest_for_every_reason_that_the_table_knows(report):
    assert report.codes >= {WaitsFor.ANSWER, WaitsFor.APPROVAL, WaitsFor.BUDGET, WaitsFor.PROVIDER, WaitsFor.RESUME}


def test_a_path_can_be_told(report):
    row = next(row for row in GRAPH if row.target is State.SUCCEEDED)

    assert [move.label for move in report.paths[row]] == [
        "a run starts",
        "the model answers",
        "provider_turn -- replied --> candidate_final [turn_whole: Pass, turn_ended: Pass, turn_unfiltered: Pass]",
        "the candidate is put up",
        (
            "candidate_final -- submitted --> verify "
            "[inputs_answered: Pass, plan_handed_over: Pass, output_accepted: Pass, final_has_text: Pass, "
            "text_is_new: Pass, intent_carried_out: Pass]"
        ),
        "verified with a passing test",
        "verify -- verified --> stop_hook [independently_verified: Pass, checks_passed: Pass]",
        "nobody objects",
        "stop_hook -- answered --> finalize [stop_allowed: Pass, late_inputs_answered: Pass, goal_met: Pass]",
        "the receipt is written",
        "finalize -- finalized --> succeeded [receipt_holds: Pass]",
    ]


def test_a_claim_of_ones_own_is_checked_on_every_step():
    def never_asks_for_two_effects(before, move, now):
        return "two effects at once" if [c.call.name for c in now.calls.values()].count("act") > 1 else None

    with pytest.raises(Broken) as caught:
        explore.check(GRAPH, claims=(never_asks_for_two_effects,))

    assert caught.value.claim == "never_asks_for_two_effects"
    assert caught.value.trace == ("a run starts", "the model asks for two effects")
    assert "2. the model asks for two effects" in str(caught.value)


class SecondLook(Gate):
    """A user's gate."""

    name = "second_look"
    may = (Retry, Fail)
    patience = 2

    def judge(self, history):
        if history.verification is None:
            return Pass()
        if history.retries[self.name] < self.patience:
            return Retry("look again", "Look again.")
        return Fail("tired", "nobody looks any more") if history.permission == "plan" else Pass()


@pytest.fixture
def few_pauses(monkeypatch):
    """Twenty pauses are four in ten of all states; where the table is another one, two will do."""
    monkeypatch.setattr(turn_ended, "PAUSES", 2)


@pytest.mark.usefixtures("few_pauses")
def test_gates_of_ones_own_are_explored_with_their_retries():
    class Once(SecondLook):
        may = (Retry,)

    mine = explore.check(table(at_candidate=(inputs_answered,), at_verify=(*AT_VERIFY, Once())))

    assert "second_look" in mine.counted


@pytest.mark.usefixtures("few_pauses")
def test_a_row_that_is_never_taken_is_named():
    with pytest.raises(Broken, match=r"every_row_is_taken: verify -- verified \[second_look fails\] --> failed"):
        explore.check(table(at_candidate=(inputs_answered,), at_verify=(*AT_VERIFY, SecondLook())))


def test_a_gate_that_rules_what_it_does_not_declare_is_found():
    class Liar(Gate):
        name = "liar"
        may = ()

        def judge(self, history):
            return Fail("no", "no")

    with pytest.raises(Broken, match=r"gates_rule_as_declared: gate 'liar' ruled .*\n  1. a run starts"):
        explore.check(table(at_candidate=(*AT_CANDIDATE, Liar())))


@pytest.mark.usefixtures("few_pauses")
def test_a_gate_that_sends_back_for_ever_is_found():
    class Stubborn(Gate):
        name = "stubborn"
        may = (Retry,)

        def judge(self, history):
            return Retry(f"for the {history.retries[self.name]}th time", "again")

    with pytest.raises(Broken, match=r"(retries_are_bounded: stubborn)|(every_row_is_taken)"):
        explore.check(table(at_candidate=(*AT_CANDIDATE, Stubborn())))


def test_a_loop_is_explored_by_its_graph_and_the_search_is_repeatable(report):
    @attrs.frozen
    class HasGraph:
        graph: tuple[Row, ...] = GRAPH

    again = explore.check(HasGraph())

    assert str(again) == str(report)
    assert again.rows == report.rows


def test_the_completion_gates_are_read_off_the_table():
    assert passes_of(GRAPH) == {
        State.CANDIDATE_FINAL: {
            "inputs_answered",
            "plan_handed_over",
            "output_accepted",
            "final_has_text",
            "text_is_new",
            "intent_carried_out",
        },
        State.VERIFY: {"independently_verified", "checks_passed"},
        State.STOP_HOOK: {"stop_allowed", "late_inputs_answered", "goal_met"},
    }
    assert set(passes_of(GRAPH)) == set(JUDGED)


def test_every_claim_says_what_it_claims():
    assert all(claim.__doc__ and claim.__doc__.strip().endswith(".") for claim in STANDARD)


def test_the_direct_walk_takes_the_first_row_whose_guards_hold(report):
    node = next(node for node in report.nodes if node.history.closing_event is Event.VERIFIED)
    assert isinstance(node.history.verification, Verification)

    first = first_row(GRAPH, State.VERIFY, Event.VERIFIED, Sheet(node.history))
    rogue = Row(State.VERIFY, Event.VERIFIED, (), State.FINALIZE)

    assert first in GRAPH
    assert first_row((rogue, *GRAPH), State.VERIFY, Event.VERIFIED, Sheet(node.history)) is rogue
    assert first_row(GRAPH, State.VERIFY, Event.FINALIZED, Sheet(node.history)) is None


def test_no_honest_run_is_called_unjustified(report):
    """`unjustified` is the word for a receipt that lies; where nobody lies, nobody is accused of it."""
    assert "unjustified" not in report.honest_codes


def test_a_rule_that_is_not_obeyed_is_found(monkeypatch):
    monkeypatch.setattr("fsm.checks.world.permit", lambda *args, **more: Permit(Leave.ALLOW, "whatever"))
    monkeypatch.setattr("states.fold.calls._may_start", lambda *args: True)

    with pytest.raises(Broken, match="starts unasked under permission ask") as caught:
        explore.check(GRAPH)
    assert caught.value.claim == "no_start_without_leave"


def test_a_fold_that_takes_an_unasked_start_is_found(monkeypatch):
    monkeypatch.setattr("states.fold.calls._may_start", lambda *args: True)

    with pytest.raises(Broken, match="starts unasked under permission ask"):
        explore.check(GRAPH)


def test_a_denial_that_is_not_obeyed_is_found(monkeypatch):
    monkeypatch.setattr(
        "fsm.checks.world.permit",
        lambda history, name, arguments, *, reads, delegates: (
            Permit(Leave.ALLOW, "allow x") if arguments else permit(history, name, arguments, reads=reads)
        ),
    )
    started = attrs.evolve(STARTED, rules=Rules(allow=("x",), deny=("act(n=2)",)))

    with pytest.raises(Broken, match="starts, which a rule denies"):
        explore.check(GRAPH, started=started)


@pytest.fixture
def hooked():
    """The search in which a hook is asked about each effect."""
    return explore._Search(GRAPH, STANDARD, explore._hooked(proofs), View(epochs=False))


def test_whatever_a_hook_says_is_explored_and_obeyed(hooked):
    hooked.run(STARTED)
    nodes = hooked.seen.values()
    said = {outcome for node in nodes for state in node.history.calls.values() for outcome in _outcomes(state)}

    assert said == set(HookOutcome)
    assert any(node.move.label == "a person approves the first call" and _asked(node.history) for node in nodes)
    assert hooks_are_heeded not in hooked.idle


def _outcomes(state):
    return {answer.outcome for answer in state.hooks}


def _asked(history):
    return any(HookOutcome.ASKED in _outcomes(state) for state in history.calls.values())


def test_a_fold_that_forgets_what_a_hook_said_is_found(hooked, monkeypatch):
    monkeypatch.setattr(calls, "_may_start", lambda history, state, record: True)
    monkeypatch.setattr(calls, "HookOutcome", SimpleNamespace(DENIED=None, ASKED=None))
    hooked.claims = (hooks_are_heeded,)  # others are broken by that as well

    with pytest.raises(Broken) as caught:
        hooked.run(STARTED)
    assert (caught.value.claim, caught.value.trace[-1]) == ("hooks_are_heeded", "a call starts over its hook")
