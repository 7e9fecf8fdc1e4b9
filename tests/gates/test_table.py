"""Gates of one's own: put where they belong, asked in that place, and part of what success rests on."""

import attrs
import pytest
from support.past import Past

from fsm.digests import graph_digest
from fsm.graph import AT_CANDIDATE, AT_STOP, AT_VERIFY, GRAPH, JUDGED, Row, Table, default_graph, table
from gates.checks_passed import checks_passed
from gates.gate import Asked, Fact, Gate
from gates.receipt_holds import ReceiptHolds
from states.errors import ConfigError
from states.finalize import receipt
from states.names import Event, State
from states.records import StopAnswer
from states.verdicts import Fail, Pass, Retry, Suspend, WaitsFor


class Mine(Gate):
    name = "mine"
    may = (Retry, Fail, Suspend)
    says = Pass()

    def judge(self, history):
        return self.says


class Other(Mine):
    name = "other"
    may = ()


def names(gates):
    return [gate.name for gate in gates]


def test_the_table_is_its_rows():
    assert default_graph() is GRAPH
    assert isinstance(GRAPH, tuple)
    assert hash(GRAPH) == hash(tuple(GRAPH))
    assert all(isinstance(row, Row) for row in GRAPH)


@pytest.mark.parametrize("state", JUDGED)
def test_a_gate_is_asked_last_unless_it_is_put_before_another(state):
    present = GRAPH.gates_of(state)
    mine = Mine()

    assert GRAPH.with_gate(mine, state).gates_of(state) == (*present, mine)
    assert GRAPH.with_gate(mine, state, before=present[0]).gates_of(state) == (mine, *present)
    assert GRAPH.with_gate(mine, state.value, before=present[-1].name).gates_of(state) == (
        *present[:-1],
        mine,
        present[-1],
    )


@pytest.mark.parametrize(
    ("added", "built"),
    [
        (lambda m: GRAPH.with_gate(m, "verify"), lambda m: table(at_verify=(*AT_VERIFY, m))),
        (
            lambda m: GRAPH.with_gate(m, "verify", before="checks_passed"),
            lambda m: table(at_verify=(*AT_VERIFY[:-1], m, AT_VERIFY[-1])),
        ),
        (lambda m: GRAPH.with_gate(m, "stop_hook"), lambda m: table(at_stop=(*AT_STOP, m))),
        (
            lambda m: GRAPH.with_gate(m, "candidate_final", before="text_is_new"),
            lambda m: table(at_candidate=(*AT_CANDIDATE[:4], m, *AT_CANDIDATE[4:])),
        ),
    ],
)
def test_adding_is_the_same_as_building_with_it(added, built):
    mine = Mine()

    assert graph_digest(added(mine)) == graph_digest(built(mine))
    assert isinstance(added(mine), Table)


def test_nothing_else_moves_and_the_old_table_stays():
    before = tuple(GRAPH)
    more = GRAPH.with_gate(Mine(), "verify")

    assert before == tuple(GRAPH)
    ours = [row for row in more if not any(isinstance(g, Asked) and g.gate.name == "mine" for g in row.guards)]
    theirs = [row for row in GRAPH if row.target is not State.STOP_HOOK]
    assert graph_digest(tuple(ours)) == graph_digest(tuple(theirs))


def test_two_gates_and_rows_of_ones_own_survive():
    extra = Row(State.VERIFY, Event.VERIFIED, (Fact("never", lambda history: False),), State.FAILED)
    graph = Table((*GRAPH[:20], extra, *GRAPH[20:])).with_gate(Mine(), "verify").with_gate(Other(), "stop_hook")

    assert extra in graph
    assert names(graph.gates_of("verify")) == ["independently_verified", "checks_passed", "mine"]
    assert names(graph.gates_of("stop_hook")) == ["stop_allowed", "late_inputs_answered", "goal_met", "other"]


def test_the_last_gate_asks_for_the_new_pass_too():
    graph = GRAPH.with_gate(Mine(), "verify").with_gate(Other(), "candidate_final")
    receipts = {
        g.gate for row in graph for g in row.guards if isinstance(g, Asked) and isinstance(g.gate, ReceiptHolds)
    }

    (last,) = receipts
    assert {"mine", "other", "checks_passed", "late_inputs_answered"} <= set(last.required)


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (Pass(), State.STOP_HOOK),
        (Retry("no", "Do it again."), State.PROVIDER_TURN),
        (Fail("mine_failed", "no"), State.FAILED),
        (Suspend(WaitsFor.ANSWER, "?"), State.SUSPENDED),
    ],
)
def test_each_ruling_leads_where_its_name_says(said, state):
    mine = Mine()
    mine.says = said
    graph = GRAPH.with_gate(mine, "verify")
    past = Past().says().move(graph)
    past = Past().verified().move(graph)

    assert past.state is state


def test_a_receipt_that_does_not_name_the_new_pass_does_not_hold():
    graph = GRAPH.with_gate(Mine(), "verify")
    past = Past().verified().move(graph)
    past.add(StopAnswer(past.history.candidate, 0)).move(graph)
    whole = receipt(past.history, "")
    seq, _ = past.history.verdicts["mine"]
    past.add(attrs.evolve(whole, verdicts=tuple(v for v in whole.verdicts if v != seq))).move(graph)

    assert past.state is State.FAILED


@pytest.mark.parametrize(
    ("state", "before", "said"),
    [
        (
            "provider_turn",
            None,
            "completion gates are asked in candidate_final, verify, stop_hook, not in 'provider_turn'",
        ),
        ("nowhere", None, "not in 'nowhere'"),
        (
            "verify",
            "explicit",
            "no gate 'explicit' is asked in verify; there are: independently_verified, checks_passed",
        ),
        ("stop_hook", checks_passed, "no gate 'checks_passed' is asked in stop_hook"),
    ],
)
def test_a_place_that_is_not_there_is_named(state, before, said):
    with pytest.raises(ConfigError, match=said):
        GRAPH.with_gate(Mine(), state, before=before)


def test_a_name_is_taken_once():
    with pytest.raises(ConfigError, match="has a gate 'mine' already"):
        GRAPH.with_gate(Mine(), "verify").with_gate(Mine(), "stop_hook")


def test_a_table_without_a_way_on_is_named():
    with pytest.raises(ConfigError, match="no row of this table leads a judged candidate on from verify"):
        Table(row for row in GRAPH if row.source is not State.VERIFY).with_gate(Mine(), "verify")
