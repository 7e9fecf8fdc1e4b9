"""An illegal event is refused and nothing has happened; a gate that misbehaves is named."""

import copy

import attrs
import pytest
from support.past import Past

from fsm.digests import graph_digest
from fsm.graph import AT_CANDIDATE, GRAPH, table
from fsm.machine import compile_graph, decide
from gates.gate import Gate
from states.errors import GateError
from states.history import History
from states.names import Event, State
from states.verdicts import Fail, Pass, Retry

IN_TABLE = {(row.source, row.event) for row in GRAPH}


def contents(history):
    return copy.deepcopy({field.name: getattr(history, field.name) for field in attrs.fields(History)})


@pytest.mark.parametrize(
    ("state", "event"), [(s, e) for s in State for e in Event if (s, e) not in IN_TABLE], ids=lambda v: v.value
)
def test_an_event_that_does_not_belong_to_the_state_is_refused(state, event):
    history = Past().says().history
    before = contents(history)

    decision = decide(GRAPH, state, event, history)

    assert (decision.target, decision.rulings) == (None, ())
    assert contents(history) == before
    assert decide(GRAPH, state, event, history) == decision  # asking did not make it legal


@pytest.mark.parametrize(("state", "event"), sorted(IN_TABLE), ids=lambda v: v.value)
def test_deciding_changes_nothing_and_is_the_same_again(state, event):
    history = Past().calls("a").history
    before = contents(history)

    assert decide(GRAPH, state, event, history) == decide(GRAPH, state, event, history)
    assert contents(history) == before


def test_a_graph_is_compiled_once():
    assert compile_graph(GRAPH) is compile_graph(GRAPH)


class Odd(Gate):
    name = "odd"
    may = (Fail,)

    def __init__(self, ruling):
        self.ruling = ruling

    def judge(self, history):
        if isinstance(self.ruling, Exception):
            raise self.ruling
        return self.ruling


def at_candidate(gate):
    past = Past().submitted()
    return decide(table(at_candidate=(*AT_CANDIDATE, gate)), past.state, Event.SUBMITTED, past.history)


def test_a_gate_of_the_users_own_is_asked_after_the_others():
    decision = at_candidate(Odd(Fail("odd", "no")))

    assert decision.target is State.FAILED
    assert [gate.name for gate, _ in decision.rulings] == [*(gate.name for gate in AT_CANDIDATE), "odd"]


def test_a_gate_that_passes_lets_the_run_move_on():
    assert at_candidate(Odd(Pass())).target is State.VERIFY


@pytest.mark.parametrize(
    ("ruling", "said"),
    [
        (ZeroDivisionError("oops"), "gate 'odd' raised ZeroDivisionError: oops"),
        (None, "gate 'odd' ruled None; it declares Pass, Fail"),
        (True, "gate 'odd' ruled True"),
        (Retry("x"), "it declares Pass, Fail"),
    ],
)
def test_a_gate_that_misbehaves_is_named(ruling, said):
    with pytest.raises(GateError) as error:
        at_candidate(Odd(ruling))

    assert said in str(error.value)


def test_the_digest_of_a_table_tells_its_order_and_its_gates():
    digests = {
        graph_digest(GRAPH),
        graph_digest(GRAPH[::-1]),
        graph_digest(table(at_candidate=AT_CANDIDATE[::-1])),
        graph_digest(table(at_candidate=(*AT_CANDIDATE, Odd(Pass())))),
    }

    assert len(digests) == 4
    assert graph_digest(table()) == graph_digest(GRAPH)
