"""What is read off a table before anything is drawn."""

from fsm.draw.checklist import Asks, checklists
from fsm.draw.picture import Kind, Numbered, Way, numbers, picture
from fsm.graph import GRAPH, Row
from gates.budget_left import budget_left
from gates.checks_passed import checks_passed
from gates.facts import says_done
from gates.final_has_text import final_has_text
from states.names import RUNNING, Event, State

VERIFY, FAILED, SUSPENDED = State.VERIFY, State.FAILED, State.SUSPENDED


def test_states_stand_in_happy_path_order_with_their_kind():
    nodes = picture(GRAPH).nodes

    assert [node.state for node in nodes] == list(State)
    assert {node.state: node.kind for node in nodes if node.kind is not Kind.RUNNING} == {
        State.PROVIDER_TURN: Kind.INITIAL,
        State.SUCCEEDED: Kind.END,
        State.FAILED: Kind.END,
        State.SUSPENDED: Kind.REST,
    }


def test_a_state_that_no_row_names_is_not_drawn():
    graph = (Row(State.PROVIDER_TURN, Event.REPLIED, (), FAILED),)

    assert [node.state for node in picture(graph).nodes] == [State.PROVIDER_TURN, FAILED]


def test_there_is_one_edge_for_each_pair_of_states():
    edges = picture(GRAPH).edges

    assert len({(edge.source, edge.target) for edge in edges}) == len(edges)


def test_every_row_is_drawn_exactly_once():
    drawn = picture(GRAPH)

    shown = [row.number for edge in drawn.edges for row in edge.rows]
    noted = [row.number for note in drawn.anywhere for row in note.rows]
    assert sorted(shown + noted) == list(range(1, len(GRAPH) + 1))


def test_what_every_running_state_has_is_one_note():
    notes = picture(GRAPH).anywhere

    assert [(note.event, note.target, len(note.rows)) for note in notes] == [
        (Event.COMMIT_FAILED, FAILED, len(RUNNING)),
        (Event.CANCELLED, SUSPENDED, len(RUNNING)),
    ]


def test_what_one_running_state_lacks_is_drawn_as_edges():
    graph = tuple(row for row in GRAPH if (row.source, row.event) != (VERIFY, Event.CANCELLED))

    assert [note.event for note in picture(graph).anywhere] == [Event.COMMIT_FAILED]


def test_an_edge_keeps_its_rows_by_event_in_the_order_of_the_table():
    graph = (
        Row(VERIFY, Event.VERIFIED, (checks_passed.fails,), FAILED),
        Row(VERIFY, Event.COMMIT_FAILED, (), FAILED),
        Row(VERIFY, Event.VERIFIED, (final_has_text.fails,), FAILED),
    )

    (edge,) = picture(graph).edges
    by_event = [(event, [numbered.number for numbered in rows]) for event, rows in edge.events]
    assert by_event == [(Event.VERIFIED, [1]), (Event.COMMIT_FAILED, [2]), (Event.VERIFIED, [3])]


def test_the_way_of_a_row_is_what_it_does_to_the_run():
    def way(*guards, target):
        return Numbered(1, Row(VERIFY, Event.VERIFIED, guards, target)).way

    assert way(checks_passed.passes, target=State.STOP_HOOK) is Way.ONWARD
    assert way(checks_passed.retries, budget_left.passes, target=State.PROVIDER_TURN) is Way.RETRY
    assert way(checks_passed.retries, budget_left.suspends, target=SUSPENDED) is Way.SUSPEND
    assert way(checks_passed.fails, target=FAILED) is Way.FAIL


def test_a_checklist_has_the_gates_in_the_order_in_which_they_are_asked():
    (submitted,) = checklists(picture(GRAPH), State.CANDIDATE_FINAL)

    assert [(line.name, line.asks) for line in submitted.lines] == [
        ("inputs_answered", Asks.GATE),
        ("plan_handed_over", Asks.GATE),
        ("output_accepted", Asks.GATE),
        ("final_has_text", Asks.GATE),
        ("text_is_new", Asks.GATE),
        ("intent_carried_out", Asks.GATE),
        ("all pass", Asks.SUM),
    ]
    assert submitted.lines[0].also == ("budget_left",)


def test_a_checklist_tells_facts_from_gates_and_names_a_pass_that_was_not_asked_before():
    graph = (
        Row(VERIFY, Event.VERIFIED, (checks_passed.fails,), FAILED),
        Row(VERIFY, Event.VERIFIED, (says_done,), FAILED),
        Row(VERIFY, Event.VERIFIED, (final_has_text.passes,), State.STOP_HOOK),
        Row(VERIFY, Event.VERIFIED, (), FAILED),
    )

    (verified,) = checklists(picture(graph), VERIFY)
    assert [line.name for line in verified.lines] == ["checks_passed", "says_done", "final_has_text passes", "always"]
    assert verified.lines[1].asks is Asks.FACT


def test_row_numbers_are_told_in_runs():
    def told(*values):
        return numbers(tuple(Numbered(value, GRAPH[0]) for value in values))

    assert told(5) == "5"
    assert told(16, 18) == "16, 18"
    assert told(1, 2) == "1, 2"
    assert told(3, 5, 6, 7, 9) == "3, 5 to 7, 9"
