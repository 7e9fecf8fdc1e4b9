"""The static check: our table is clean, and each way in which a table can be wrong is named."""

from collections import Counter

import attrs
import pytest

from fsm.checks import mutants as planted
from fsm.checks.branches import branches, decisions
from fsm.checks.broken import Broken
from fsm.checks.mutants import mutants
from fsm.checks.shape import check, prove
from fsm.graph import AT_CANDIDATE, AT_STOP, AT_VERIFY, GRAPH, Row, table
from gates.budget_left import budget_left
from gates.checks_passed import ChecksPassed, checks_passed
from gates.facts import intents_committed, says_done
from gates.final_has_text import final_has_text
from gates.gate import Gate
from gates.provider_answers import provider_answers
from gates.text_is_new import text_is_new
from gates.turn_whole import turn_whole
from states.names import RUNNING, Event, State
from states.verdicts import Fail, Pass, Retry, Suspend

PROVIDER_TURN, CANDIDATE_FINAL, VERIFY = State.PROVIDER_TURN, State.CANDIDATE_FINAL, State.VERIFY
FINALIZE, SUCCEEDED, FAILED, SUSPENDED = State.FINALIZE, State.SUCCEEDED, State.FAILED, State.SUSPENDED


class Reviewed(Gate):
    """A gate as a user writes one, with everything it could say."""

    name = "reviewed"
    may = (Retry, Fail, Suspend)

    def judge(self, history):
        return Pass()


reviewed = Reviewed()


def number_of(graph, source, target, *guards):
    """The number of the row between two states that has all these guards."""
    (number,) = (
        number
        for number, row in enumerate(graph, 1)
        if (row.source, row.target) == (source, target) and row.guards and set(guards) <= set(row.guards)
    )
    return number


def changed(number, **changes):
    return (*GRAPH[: number - 1], attrs.evolve(GRAPH[number - 1], **changes), *GRAPH[number:])


def without(number):
    return (*GRAPH[: number - 1], *GRAPH[number:])


def found(graph):
    """Sentences by the name of their check."""
    by_check = {}
    for finding in check(graph):
        by_check.setdefault(finding.check, []).append(finding.message)
    return by_check


TO_VERIFY = number_of(GRAPH, CANDIDATE_FINAL, VERIFY)
TO_SUCCESS = number_of(GRAPH, FINALIZE, SUCCEEDED)
TO_STOP_HOOK = number_of(GRAPH, VERIFY, State.STOP_HOOK)
BLANK_FAILS = number_of(GRAPH, CANDIDATE_FINAL, FAILED, final_has_text.fails)
CHECKS_FAIL = number_of(GRAPH, VERIFY, FAILED, checks_passed.fails)
CHECKS_RETRY = number_of(GRAPH, VERIFY, PROVIDER_TURN, checks_passed.retries)


# --- what is right --------------------------------------------------------------------------------------------------


def test_our_table_keeps_its_promises():
    assert check(GRAPH) == []
    prove(GRAPH)


@pytest.mark.parametrize(
    "graph",
    [
        table((*AT_CANDIDATE, reviewed)),
        table(at_verify=(reviewed, *AT_VERIFY)),
        table(at_stop=(*AT_STOP, reviewed)),
        table((reviewed,), (type("Other", (Reviewed,), {"name": "other"})(),)),
    ],
    ids=["candidate", "verify", "stop", "none of ours"],
)
def test_a_table_with_a_users_gate_keeps_its_promises(graph):
    assert check(graph) == []


# --- what is wrong --------------------------------------------------------------------------------------------------


def test_every_finding_is_in_the_error():
    with pytest.raises(Broken) as caught:
        prove(without(TO_SUCCESS))

    assert caught.value.claim == "shape"
    assert list(caught.value.trace) == [str(finding) for finding in check(without(TO_SUCCESS))]
    assert "reachable: no way leads from provider_turn to succeeded" in str(caught.value)


def test_an_empty_table_leads_nowhere():
    assert found(())["reachable"] == ["no way leads from provider_turn to succeeded"]


def test_a_word_that_is_no_state_or_event_is_named():
    assert found(changed(3, target="done"))["names"] == ["row 3: its target 'done' is no State"]
    assert found(changed(3, source="start"))["names"] == ["row 3: its source 'start' is no State"]
    assert found(changed(3, event="went"))["names"] == ["row 3: its event 'went' is no Event"]


def test_a_gate_instead_of_a_guard_is_named():
    (message,) = found(changed(3, guards=(turn_whole,)))["names"]

    assert message.startswith("row 3:")
    assert message.endswith("is no guard; ask a gate (gate.passes)")


def test_a_name_that_cannot_be_drawn_is_named():
    odd = type("Odd", (Reviewed,), {"name": "is reviewed?"})()

    assert "'is reviewed?'" in found(table(at_verify=(odd,)))["names"][0]


def test_a_ruling_that_a_gate_does_not_declare_is_named():
    graph = changed(CHECKS_FAIL, guards=(checks_passed.suspends,), target=SUSPENDED)

    (message,) = found(graph)["names"]
    assert "asks for 'checks_passed suspends', which that gate does not declare" in message


def test_two_gates_of_one_name_are_named_once():
    graph = table(at_candidate=(*AT_CANDIDATE, ChecksPassed()))

    (message,) = found(graph)["gate names"]
    assert message.startswith("two gates are called 'checks_passed'; row ")


def test_a_state_that_nothing_leads_to_is_named():
    rows = tuple(row for row in GRAPH if row.target is not CANDIDATE_FINAL)

    assert "no way leads from provider_turn to candidate_final" in found(rows)["reachable"]


def test_a_way_out_of_an_end_is_named():
    graph = (*GRAPH, Row(FAILED, Event.RESUMED, (turn_whole.passes,), PROVIDER_TURN))

    assert found(graph)["ends"] == [f"row {len(graph)} (failed, resumed -> provider_turn) leads out of an end"]


def test_a_state_that_success_is_out_of_reach_from_is_named():
    rows = tuple(row for row in GRAPH if row.event is not Event.RESUMED)

    assert found(rows)["way out"] == ["no way leads from suspended to succeeded"]


def test_a_cycle_without_a_budget_is_named():
    graph = changed(number_of(GRAPH, State.DISPATCH_TOOLS, State.AWAIT_RESULTS), target=State.DISPATCH_TOOLS)

    assert found(graph)["cycles"] == [
        "a run can come back to dispatch_tools for ever: no row on the way asks for a budget"
    ]


@pytest.mark.parametrize("event", [Event.COMMIT_FAILED, Event.CANCELLED])
@pytest.mark.parametrize("state", RUNNING)
def test_a_running_state_that_cannot_be_stopped_is_named(state, event):
    rows = tuple(row for row in GRAPH if (row.source, row.event) != (state, event))

    assert found(rows)["always"] == [f"{state} has no unguarded row for {event}"]


def test_a_run_that_goes_on_after_a_failed_commit_is_named():
    number = next(number for number, row in enumerate(GRAPH, 1) if row.event is Event.COMMIT_FAILED)

    (message,) = found(changed(number, target=PROVIDER_TURN))["always"]
    assert message.endswith("should lead to failed")


def test_a_shadowed_row_is_named_with_what_shadows_it():
    rows = list(GRAPH)
    rows.insert(0, Row(PROVIDER_TURN, Event.REPLIED, (turn_whole.fails,), FAILED))
    second = 1 + number_of(GRAPH, PROVIDER_TURN, FAILED, turn_whole.fails)

    assert found(tuple(rows))["shadowed"] == [
        f"row {second} (provider_turn, replied -> failed) is never taken: row 1 takes all that it could"
    ]


def test_a_row_that_several_rows_shadow_together_is_named():
    graph = (*GRAPH, Row(VERIFY, Event.VERIFIED, (budget_left.suspends,), SUSPENDED))

    (message,) = found(graph)["shadowed"]
    assert message.endswith("is never taken: the rows before it take all that it could")


def test_a_row_that_contradicts_itself_is_named():
    graph = (*GRAPH, Row(VERIFY, Event.VERIFIED, (checks_passed.fails, checks_passed.passes), FAILED))

    (message,) = found(graph)["shadowed"]
    assert message.endswith("checks_passed cannot rule two ways at once")


def test_an_objection_without_a_row_is_named():
    assert found(without(CHECKS_FAIL)) == {
        "gap": ["in verify no row takes verified when: independently_verified passes, checks_passed fails"]
    }


def test_a_retry_that_nobody_takes_when_the_budget_is_out_is_named():
    number = number_of(GRAPH, VERIFY, SUSPENDED, checks_passed.retries, budget_left.suspends)

    assert found(without(number)) == {
        "gap": [
            (
                "in verify no row takes verified when: "
                "independently_verified passes, checks_passed retries, budget_left suspends"
            )
        ]
    }


def test_an_objection_of_an_event_that_is_a_failure_itself_needs_a_row():
    number = number_of(GRAPH, PROVIDER_TURN, FAILED, provider_answers.fails)

    passes = "context_fits passes, provider_kept passes"
    told = f"in provider_turn no row takes turn_failed when: {passes}, provider_answers fails"
    assert found(without(number)) == {"gap": [told]}


def test_a_pass_that_is_not_asked_for_where_others_object_is_named():
    guards = tuple(guard for guard in GRAPH[TO_VERIFY - 1].guards if guard != text_is_new.passes)

    messages = found(changed(TO_VERIFY, guards=guards))["order"]
    assert all(f"row {TO_VERIFY} (candidate_final, submitted -> verify)" in message for message in messages)
    assert len(messages) == 3  # against each row of the objecting gate


def test_an_objection_that_leads_elsewhere_is_named():
    (astray,) = found(changed(CHECKS_RETRY, target=State.DISPATCH_TOOLS))["objections"]
    (softened,) = found(changed(CHECKS_FAIL, target=SUSPENDED))["objections"]

    told = f"row {CHECKS_RETRY} (verify, verified -> dispatch_tools) should lead to provider_turn"
    assert astray == f"{told}, as checks_passed retries"
    told = f"row {CHECKS_FAIL} (verify, verified -> suspended) should lead to failed"
    assert softened == f"{told}, as checks_passed fails"


def test_an_end_without_a_reason_is_named():
    number = number_of(GRAPH, State.DISPATCH_TOOLS, State.AWAIT_RESULTS)

    (message,) = found(changed(number, target=FAILED))["objections"]
    assert message.endswith("stops a run without a gate that says why")


def test_a_bare_way_toward_success_is_named():
    graph = (*GRAPH, Row(State.AWAIT_RESULTS, Event.SETTLED, (says_done, budget_left.passes), CANDIDATE_FINAL))

    (message,) = found(graph)["bare"]
    told = f"row {len(graph)} (await_results, settled -> candidate_final)"
    assert message == f"{told} leads toward success, and no gate has to pass for it"


def test_a_second_way_into_success_is_named():
    graph = changed(TO_STOP_HOOK, target=SUCCEEDED)

    assert found(graph)["last step"] == [
        f"row {TO_STOP_HOOK} (verify, verified -> succeeded): only finalize leads there, on finalized"
    ]


@pytest.mark.parametrize("gate", [*AT_CANDIDATE, *AT_VERIFY, *AT_STOP], ids=lambda gate: gate.name)
def test_a_way_around_a_completion_gate_is_named(gate):
    """A detour that names every other gate's pass."""
    others = tuple(other.passes for other in (*AT_CANDIDATE, *AT_VERIFY, *AT_STOP) if other is not gate)
    graph = (*GRAPH, Row(PROVIDER_TURN, Event.REPLIED, others, FINALIZE))

    assert found(graph)["cut"] == [f"a way to succeeded leads around {gate.name}"]


def test_a_gate_that_the_receipt_does_not_require_is_named():
    rows = []
    for row in GRAPH:
        if row.source is VERIFY and row.target is State.STOP_HOOK:
            rows += [
                Row(VERIFY, Event.VERIFIED, (reviewed.retries, budget_left.suspends), SUSPENDED),
                Row(VERIFY, Event.VERIFIED, (reviewed.retries, budget_left.passes), PROVIDER_TURN),
                Row(VERIFY, Event.VERIFIED, (reviewed.fails,), FAILED),
                Row(VERIFY, Event.VERIFIED, (reviewed.suspends,), SUSPENDED),
                attrs.evolve(row, guards=(*row.guards, reviewed.passes)),
            ]
        else:
            rows.append(row)

    assert found(tuple(rows)) == {
        "receipt": ["receipt_holds does not require the pass of reviewed; name it in `required`"]
    }


def test_a_gate_that_the_receipt_requires_in_vain_is_named():
    gates = table(at_stop=())
    graph = tuple(row for row in GRAPH if row.source is not FINALIZE or row.event is not Event.FINALIZED)
    foreign = tuple(row for row in gates if row.source is FINALIZE and row.event is Event.FINALIZED)

    assert found((*graph, *foreign))["receipt"] == [
        f"receipt_holds does not require the pass of {name}; name it in `required`"
        for name in ("goal_met", "late_inputs_answered", "stop_allowed")
    ]
    swapped = tuple(row for row in gates if row.source is not FINALIZE or row.event is not Event.FINALIZED)
    ours = tuple(row for row in GRAPH if row.source is FINALIZE and row.event is Event.FINALIZED)
    assert found((*swapped, *ours))["receipt"] == [
        f"receipt_holds requires the pass of {name}, which no row toward it asks for"
        for name in ("goal_met", "late_inputs_answered", "stop_allowed")
    ]


# --- a decision's branches ------------------------------------------------------------------------------------------


def test_branches_are_asked_as_the_machine_asks():
    graph = table()
    indices = decisions(graph)[CANDIDATE_FINAL, Event.SUBMITTED]

    told = [(str(branch), branch.row and graph[branch.row].target) for branch in branches(graph, indices)]
    assert told[0] == (
        (
            "inputs_answered passes, plan_handed_over passes, output_accepted passes, final_has_text passes, "
            "text_is_new passes, intent_carried_out passes"
        ),
        VERIFY,
    )
    assert ("inputs_answered retries, budget_left suspends", SUSPENDED) in told
    assert (
        "inputs_answered passes, plan_handed_over passes, output_accepted passes, final_has_text fails",
        FAILED,
    ) in told
    assert len(told) == 17  # one per row, and none without
    assert {branch.row for branch in branches(graph, indices)} == set(indices)


# --- planted faults -------------------------------------------------------------------------------------------------


def test_mutants_differ_from_the_table_and_from_each_other_in_name():
    names = [name for name, _ in mutants(GRAPH)]

    assert all(graph != GRAPH for _, graph in mutants(GRAPH))
    assert max(Counter(names).values()) == 1


def outcome(family):
    everyone = list(family(GRAPH))
    survivors = [name for name, graph in everyone if not check(graph)]
    return len(everyone) - len(survivors), len(everyone), survivors


def test_every_rogue_row_dies():
    assert outcome(planted.rogue_rows)[:2] == (91, 91)


def test_a_dropped_guard_survives_only_if_it_is_a_fact_or_other_rows_say_the_same():
    """The facts are left to `explore`. The others change nothing: the rows before already took what they exclude."""
    killed, of, survivors = outcome(planted.dropped_guards)

    assert (killed, of) == (134, 149)
    assert survivors == [
        "row 8 without 'turn_whole passes'",
        "row 8 without 'turn_ended passes'",
        "row 8 without 'turn_unfiltered passes'",
        "row 17 without 'provider_answers retries'",
        f"row 22 without {intents_committed.name!r}",
        "row 24 without 'actions_progress passes'",
        "row 25 without 'actions_progress passes'",
        "row 25 without 'output_correctable passes'",
        "row 27 without 'actions_progress passes'",
        "row 27 without 'output_correctable passes'",
        "row 27 without 'questions_answered passes'",
        "row 28 without 'tools_work passes'",  # detectors that only hint
        "row 28 without 'on_course passes'",
        "row 28 without 'window_left passes'",
        "row 82 without 'questions_answered passes'",
    ]


def test_a_redirected_row_survives_only_where_a_fact_alone_decides():
    killed, of, survivors = outcome(planted.redirected_rows)

    assert (killed, of) == (740, 756)
    assert {name.split()[1] for name in survivors} == {"9", "10", "11", "28", "83", "84"}


def test_a_deleted_row_survives_only_where_a_fact_alone_decides():
    killed, of, survivors = outcome(planted.deleted_rows)

    assert (killed, of) == (79, 84)
    assert survivors == ["without row 10", "without row 11", "without row 26", "without row 83", "without row 84"]


def test_order_alone_is_never_what_keeps_a_promise():
    """Swapped neighbours are still a sound table: their order is a contract, which the checked-in picture pins."""
    assert outcome(planted.swapped_rows)[:2] == (0, 61)
