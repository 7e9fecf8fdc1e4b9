"""What the harness shows of this agent, and one run from end to end."""

from ledger_agent import GRAPH, Ledger, make_loop
from ledger_agent.agent import loop_for

from fsm.checks import prove
from fsm.providers import Scripted
from fsm.providers.scripted import asks_for, says
from states.names import State


def success_rests_on_balanced_books(before, move, now):
    """`succeeded` is entered only if the books were seen to balance for this candidate, on the final workspace."""
    if move.transition is None or move.transition.target is not State.SUCCEEDED:
        return None
    _, found = now.findings.get("books_balance", (0, None))
    if found is None:
        return "nobody looked at the books for this candidate"
    return None if found.holds and found.revision == now.receipt.revision else "the books are not those that were seen"


def test_no_run_of_this_agent_is_done_before_the_books_balance():
    print(prove(make_loop, profile="quick", claims=[success_rests_on_balanced_books]))


def test_the_gate_is_part_of_the_table():
    assert [gate.name for gate in GRAPH.gates_of("verify")][-1] == "books_balance"


def test_a_run_that_forgets_the_credit_is_sent_back_and_mends_it(tmp_path):
    model = Scripted(
        [
            asks_for(("post", {"account": "cash", "cents": 500})),
            says("Booked."),
            asks_for(("post", {"account": "sales", "cents": -500})),
            says("Booked, both sides."),
        ]
    )
    result = loop_for(tmp_path, model, str(tmp_path / "runs.db")).run_sync("Book a sale of 5.00 in cash.")

    assert (result.status, result.text) == ("succeeded", "Booked, both sides.")
    assert Ledger(tmp_path).off_by() == 0
    assert result.turns == 4
