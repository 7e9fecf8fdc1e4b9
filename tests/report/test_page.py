"""A session as a page: what is on it, and that nothing of what a stranger said can run, load or deceive from it."""

import base64
import hashlib
import re

import attrs
import pytest
from support.html import Page
from support.past import Past

from fsm.digests import graph_digest
from fsm.graph import GRAPH
from fsm.report import page
from fsm.report.spans import Kind, bars, spans
from states.messages import Call, Image, Reasoning, Text, Usage
from states.names import Event, State
from states.records import (
    Cancellation,
    Dispatch,
    Resumed,
    Status,
    Suspended,
    ToolIntent,
    ToolResult,
    Transition,
    Trouble,
    TurnFailure,
)
from states.verdicts import WaitsFor

HOSTILE = {
    "a script": "</pre></script><script>document.title='owned'</script>",
    "a handler": '"><img src=x onerror="document.title=\'owned\'">',
    "a template": "{{ 7*7 }}{% raw %}${7*7}",
    "a comment": "<!-- --><![CDATA[ ]]></style><style>*{display:none}</style>",
    "an address": "javascript:document.title='owned'",
    "escapes": "\x1b]0;owned\x07\x1b[2J\x9b31m",
    "an override": "safe \u202efdp.exe\u202c \u2066x\u2069 \u061c",
}
TASK = "Look at it."


def well_formed(past):
    """The same entries, made with the built-in table, so that the audit has something to derive."""
    first = past.entries[0]
    started = attrs.evolve(first.record, graph=graph_digest(GRAPH))
    return [attrs.evolve(first, record=started), *past.entries[1:]]


def succeeded():
    past = Past(task=TASK)
    past.calls("bash").move()
    past.now += 1
    past.intents().move()
    past.now += 2.5
    (state,) = past.history.open_calls()
    past.add(ToolResult(state.call.id, Status.OK, "fine", {"exit_status": 0}, duration=2.0))
    past.settle().move()
    past.now += 3
    past.finalized("All is well.").move()
    return well_formed(past)


def hostile():
    past = Past(task=" ".join(HOSTILE.values()))
    words = "\n".join(HOSTILE.values())
    past.now += 1
    past.turn(
        Reasoning(words, "x"), Text(words), Call("call_1_0", 'x"><script>', words), Call("call_1_1", "bash", "{}")
    ).move()
    (_, second) = past.history.open_calls()
    past.add(ToolResult("call_1_0", Status.ERROR, words, {words: words}))
    past.add(ToolIntent(second.call.id, "bash", "{}", 1), Dispatch(past.history.turn_seq)).move()
    bad = Image('image/svg+xml"><script>', "x"), Image("image/svg+xml", "x"), Image("image/png", '"><script>')
    past.add(ToolResult("call_1_1", Status.OK, words + "x" * 2_000_000, {}, images=bad))
    past.settle().move()
    past.add(TurnFailure(Trouble.CUT, words)).move()
    return past.entries


@pytest.fixture(scope="module")
def calm():
    return page(GRAPH, succeeded(), "s")


@pytest.fixture(scope="module")
def wild():
    return page(GRAPH, hostile(), 's"><script>')


# --- what is on it --------------------------------------------------------------------------------------------------


def test_the_page_says_how_it_ended_what_it_rests_on_and_that_the_audit_agrees(calm):
    shown = Page(calm).text

    assert "✓ succeeded" in " ".join(shown.split())
    assert TASK in shown
    assert "All is well." in shown
    assert "gates that passed: turn_whole" in shown
    assert "The audit has nothing to object to." in shown
    assert "Head of the chain" in shown


def test_what_the_audit_objects_to_stands_on_the_page():
    entries = succeeded()
    forged = attrs.evolve(entries[-1], record=attrs.evolve(entries[-1].record, rests_on=(1,)))

    shown = Page(page(GRAPH, [*entries[:-1], forged], "s", ["a trigger is gone"])).text

    assert "The audit objects." in shown
    assert "a trigger is gone" in shown
    assert "the move rests on" in shown


def test_a_call_stands_with_its_records_its_output_and_its_time(calm):
    shown = " ".join(Page(calm).text.split())

    assert "✓ ok 2.00 s" in shown
    assert "admitted in record 3 · started under record" in shown
    assert "exit_status: 0" in shown


def test_every_link_leads_somewhere_and_no_name_is_used_twice(calm):
    elements = Page(calm).elements
    names = [attrs["id"] for _, attrs in elements if "id" in attrs]

    assert len(names) == len(set(names))
    assert {attrs["href"][1:] for attrs in Page(calm).of("a")} <= set(names)
    assert {f"r{entry.seq}" for entry in succeeded()} <= set(names)


def test_what_is_durable_and_what_was_only_shown_are_told_apart():
    past = Past()
    past.add(TurnFailure(Trouble.CUT, "the line went dead")).move()
    past.fence += 1
    past.says("here").move()
    items = [attrs for attrs in Page(page(GRAPH, past.entries, "s")).of("li") if "void" in attrs.get("class", "")]

    assert [attrs["class"] for attrs in items] == ["model void", "process void"]
    assert "ephemeral" in Page(page(GRAPH, past.entries, "s")).text


def test_tokens_cost_what_the_list_says_and_an_unknown_model_costs_nothing_that_is_known():
    past = Past().says("a")
    turn = past.entries[2]
    known = attrs.evolve(turn, record=attrs.evolve(turn.record, model="gpt-4o", usage=Usage(1_000_000, 0)))

    assert "not known" in Page(page(GRAPH, past.entries, "s")).text
    shown = Page(page(GRAPH, [*past.entries[:2], known, *past.entries[3:]], "s")).text
    assert "US$ 2.50" in shown
    assert "as of 20" in shown


@pytest.mark.parametrize("cut", range(0, 20, 3))
def test_a_session_can_be_looked_at_wherever_it_stands(cut):
    shown = Page(page(GRAPH, succeeded()[: cut + 1], "s")).text

    assert "… running" in " ".join(shown.split())
    assert "There is no receipt" in shown


def test_the_same_records_give_the_same_bytes(calm):
    assert page(GRAPH, succeeded(), "s") == calm


# --- the time line --------------------------------------------------------------------------------------------------


def test_a_tool_that_had_to_wait_names_what_it_waited_for():
    past = Past()
    past.calls("read", "read", "bash").move()
    for place, shared in enumerate((True, True, False)):
        state = past.history.open_calls()[place]
        past.add(ToolIntent(state.call.id, state.call.name, "{}", place, shared=shared))
    past.add(Dispatch(past.history.turn_seq)).move()
    for call, seconds in (("call_1_1", 1.0), ("call_1_0", 3.0), ("call_1_2", 4.0)):
        past.now = 100 + seconds if call != "call_1_2" else 107.0
        past.add(ToolResult(call, Status.OK, "", duration=seconds))
    tools = {span.label: span for span in spans(past.entries) if span.kind is Kind.TOOL}

    assert tools["read (call_1_0)"].because == "asked for by turn 1"
    assert tools["read (call_1_1)"].until == 101
    last = tools["bash (call_1_2)"]
    assert (last.because, last.begun - last.since, last.until - last.begun) == ("waited for call_1_0, call_1_1", 3, 4)


def test_time_at_rest_takes_no_room():
    past = Past()
    past.now = 102.0
    past.add(Cancellation("enough")).add(Suspended(WaitsFor.RESUME, "cancelled: enough"))
    past.add(Transition(State.PROVIDER_TURN, Event.CANCELLED, State.SUSPENDED, (past.history.closing,)))
    past.now = 90_102.0
    past.fence += 1
    past.add(Resumed()).move()
    past.now += 1
    past.says("here")
    found = spans(past.entries)
    (rest,) = [span for span in found if span.kind is Kind.REST]

    assert rest.until - rest.since == 90_000
    assert Kind.LOST not in {span.kind for span in found}
    assert bars(found)[1] == pytest.approx(1.0)


# --- what cannot happen on it ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["calm", "wild"])
def test_nothing_on_the_page_can_run_load_or_send(which, request):
    assert list(Page(request.getfixturevalue(which)).dangers()) == []


@pytest.mark.parametrize("which", ["calm", "wild"])
def test_the_policy_allows_nothing_but_the_one_sheet_and_pictures_in_the_page(which, request):
    shown = Page(request.getfixturevalue(which))
    (policy,) = [attrs["content"] for attrs in shown.of("meta") if "http-equiv" in attrs]
    (sheet,) = shown.sheets
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()

    assert (
        policy == f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_hostile_words_are_shown_as_words(wild):
    shown = Page(wild).text

    for name in ("a script", "a handler", "a template", "a comment", "an address"):
        assert HOSTILE[name] in shown, name
    assert "\\x1b]0;owned\\x07" in shown
    assert "safe \\u202efdp.exe\\u202c" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", wild)


def test_a_huge_output_is_cut_and_the_page_says_so(wild):
    assert len(wild) < 400_000
    assert "characters are left out here" in wild


def test_a_picture_that_a_page_should_not_show_is_left_out(wild):
    sources = [attrs["src"] for attrs in Page(wild).of("img")]

    assert all(source.startswith(("data:image/svg+xml;base64,", "data:image/png;base64,")) for source in sources)
    assert "2 pictures are not shown" in Page(wild).text


# --- who can read it ------------------------------------------------------------------------------------------------


def test_the_page_has_a_language_landmarks_headings_and_a_way_past_the_links(calm):
    shown = Page(calm)
    tags = [tag for tag, _ in shown.elements]

    assert shown.of("html") == [{"lang": "en"}]
    for landmark in ("header", "nav", "main", "footer"):
        assert tags.count(landmark) == 1
    assert tags.count("h1") == 1
    assert next(attrs for tag, attrs in shown.elements if tag == "a")["href"] == "#main"
    headings = {attrs.get("id") for attrs in shown.of("h2")}
    assert {attrs["aria-labelledby"] for attrs in shown.of("section")} == headings


def test_what_scrolls_can_be_reached_by_keyboard_and_pictures_and_tables_have_names(calm):
    shown = Page(calm)

    for attrs_ in (*shown.of("pre"), *(a for a in shown.of("div") if a.get("class") == "scroll")):
        assert attrs_["tabindex"] == "0"
        assert attrs_["aria-label"]
    assert all(attrs_["alt"] for attrs_ in shown.of("img"))
    assert all(attrs_.get("scope") in {"col", "row"} for attrs_ in shown.of("th"))
    assert len(shown.of("table")) == len(shown.of("caption"))
    assert all(attrs_.get("aria-hidden") == "true" for attrs_ in shown.of("svg"))


def _luminance(colour):
    wide = colour if len(colour) == 7 else "#" + "".join(2 * letter for letter in colour[1:])
    parts = [int(wide[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_words_stand_out_from_their_ground(calm, scheme):
    """WCAG 2.1 AA: 4.5 to 1 for text."""
    (sheet,) = Page(calm).sheets
    colours = dict(re.findall(r"--(\w+):(#\w+)", sheet.splitlines()[scheme]))

    for ground in ("ground", "card"):
        for name in ("text", "dim", "link", "good", "bad", "rest", "void"):
            light, dark = sorted((_luminance(colours[name]), _luminance(colours[ground])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)
