"""The rows that a session took are read from its journal."""

from fsm.draw import session_path
from fsm.graph import GRAPH
from states.names import Event, State
from states.records import Entry, Transition, Verdict
from states.verdicts import Pass, Retry, Suspend, WaitsFor

CANDIDATE_FINAL, PROVIDER_TURN, SUSPENDED = State.CANDIDATE_FINAL, State.PROVIDER_TURN, State.SUSPENDED


def journal(*records):
    return [Entry(seq, 0.0, 1, record) for seq, record in enumerate(records, 1)]


def rows(entries):
    return [GRAPH[number - 1] for number in sorted(session_path(GRAPH, entries))]


def test_a_fresh_session_took_no_row():
    assert session_path(GRAPH, journal()) == frozenset()


def test_rulings_tell_apart_rows_that_share_states_and_event():
    (row,) = rows(
        journal(
            Verdict("inputs_answered", Pass()),
            Verdict("final_has_text", Retry("blank")),
            Verdict("budget_left", Pass()),
            Transition(CANDIDATE_FINAL, Event.SUBMITTED, PROVIDER_TURN),
        )
    )

    assert [guard.name for guard in row.guards] == ["final_has_text retries", "budget_left passes"]


def test_rulings_of_an_earlier_move_do_not_count():
    (first, second) = rows(
        journal(
            Verdict("inputs_answered", Retry("late")),
            Verdict("budget_left", Pass()),
            Transition(CANDIDATE_FINAL, Event.SUBMITTED, PROVIDER_TURN),
            Verdict("inputs_answered", Pass()),
            Verdict("final_has_text", Retry("blank")),
            Verdict("budget_left", Suspend(WaitsFor.BUDGET, "spent")),
            Transition(CANDIDATE_FINAL, Event.SUBMITTED, SUSPENDED),
        )
    )

    assert [guard.name for guard in first.guards] == ["inputs_answered retries", "budget_left passes"]
    assert [guard.name for guard in second.guards] == ["final_has_text retries", "budget_left suspends"]


def test_a_move_without_rulings_takes_its_unguarded_row():
    (row,) = rows(journal(Transition(State.VERIFY, Event.CANCELLED, SUSPENDED)))

    assert (row.source, row.event, row.guards) == (State.VERIFY, Event.CANCELLED, ())


def test_a_move_that_this_table_does_not_know_is_left_out():
    assert rows(journal(Transition(State.VERIFY, Event.VERIFIED, State.SUCCEEDED))) == []
