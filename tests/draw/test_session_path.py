"""The rows that a session took are read from its journal."""

from support.past import Past

from fsm.draw import session_marks, session_path
from fsm.graph import GRAPH
from states.names import Event, State
from states.records import Entry, Suspended, Transition, Verdict
from states.verdicts import Pass, Retry, Suspend, WaitsFor

CANDIDATE_FINAL, PROVIDER_TURN, SUSPENDED = State.CANDIDATE_FINAL, State.PROVIDER_TURN, State.SUSPENDED


def journal(*records):
    return [Entry(seq, 0.0, 1, record) for seq, record in enumerate(records, 1)]


def rows(entries):
    return [GRAPH[number - 1] for number in sorted(session_path(GRAPH, entries))]


def test_a_fresh_session_took_no_row():
    assert session_path(GRAPH, journal()) == {}


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


def test_visits_and_times_are_told_and_nobodys_time_is_left_out():
    past = Past()
    past.now += 2
    past.calls("bash").move()
    past.now += 3
    past.intents().move()
    past.now += 100
    past.fence += 1
    (state,) = past.history.open_calls()
    past.result(state.call.id).settle().move()
    marks = session_marks(GRAPH, past.entries)

    assert marks.spent[PROVIDER_TURN] == "2×, 2.00 s"
    assert marks.spent[State.DISPATCH_TOOLS] == "1×, 3.00 s"
    assert marks.spent[State.AWAIT_RESULTS] == "1×, 0 ms"
    assert (marks.here, marks.stands) == (PROVIDER_TURN, "stands here")


def test_a_rest_says_what_it_waits_for():
    marks = session_marks(
        GRAPH,
        journal(Suspended(WaitsFor.BUDGET, "spent"), Transition(PROVIDER_TURN, Event.CANCELLED, SUSPENDED)),
    )

    assert (marks.here, marks.stands) == (SUSPENDED, "rests here: waits for budget")
    assert session_marks(GRAPH, []).here is None
