"""What a person sees while a run goes on."""

import pytest
from rich.console import Console

from fsm import events
from fsm.cli import ndjson, progress, terminal
from fsm.cli.approve import arguments_of
from fsm.cli.progress import Progress, label
from states.messages import Finish
from states.records import Status
from states.verdicts import Fail, Pass, Retry


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nover lines", "plain\ttext\nover lines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\rb", "a\\x0db"),
        ("a\r\nb", "a\nb"),
        ("\x9b2J", "\\x9b2J"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("half \ud83d", "half \\ud83d"),
        ("日本語 é", "日本語 é"),
    ],
)
def test_nothing_steers_the_terminal(text, shown):
    assert terminal.visible(text) == shown


@pytest.fixture
def screen(monkeypatch):
    console = Console(file=None, force_terminal=False, width=100, record=True, stderr=True, markup=False)
    for module in (terminal, progress):
        monkeypatch.setattr(module, "errors", lambda: console)
    return console


def play(show):
    show(events.RunStart(1, "s", 1))
    show(events.TurnStart(1))
    show(events.Delta("I have a look.\x07"))
    show(events.StreamEnd(3, Finish.CALLS, calls=1))
    show(events.ToolStart(4, "call_1_0", "bash", '{"command":"ls [bold]","timeout_s":3}'))
    show(events.ToolProgress("call_1_0", "a.txt"))
    show(events.ToolEnd(5, "call_1_0", Status.ERROR, "out", {"exit_status": 2}, 0.5))
    show(events.TurnStart(2))
    show(events.Delta("All done."))
    show(events.TurnStart(3))
    show(events.StreamEnd(6, Finish.STOP))
    show(events.Ruled(7, "turn_whole", Pass()))
    show(events.Ruled(8, "checks_passed", Retry("not shown", "long message")))
    show(events.Ruled(9, "final_has_text", Fail("empty_final", "no answer")))
    show(events.ProviderRetry(1, 2.0, "HTTP 503"))
    show(events.StreamEnd(10, None, trouble="the server is down"))
    show.close()


def test_a_person_sees_what_is_done_and_what_objected(screen):
    play(Progress(lines=True))

    assert screen.export_text().splitlines() == [
        "session s, run 1",
        "  I have a look.\\x07",
        "  ✗ bash ls [bold]  (0.50 s, exit status 2)",
        "  All done.",
        "  ↩ checks_passed: not shown",
        "  ■ final_has_text: no answer",
        "HTTP 503; asked again in 2.0 s",
        "no answer: the server is down",
    ]


def test_without_a_person_only_warnings_are_said(screen):
    play(Progress(lines=False))

    assert screen.export_text().splitlines() == [
        "HTTP 503; asked again in 2.0 s",
        "no answer: the server is down",
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "shown"),
    [
        ("bash", '{"command":"pytest -q"}', "bash pytest -q"),
        ("read_file", '{"limit":3,"path":"a/b.py"}', "read_file a/b.py"),
        ("lookup", '{"key":"x"}', 'lookup {"key":"x"}'),
        ("bash", "no json", "bash no json"),
        ("bash", '{"command":"a\\nb\\u001b"}', "bash a b\\x1b"),
    ],
)
def test_a_call_is_named_by_its_main_argument(name, arguments, shown):
    assert label(name, arguments) == shown


def test_what_is_to_be_approved_is_shown_whole_or_the_rest_is_counted():
    assert arguments_of({"content": "a\nb\x1b", "n": 3}) == "  content: a\n      b\\x1b\n  n: 3"
    assert arguments_of({"command": "x" * 5000}).endswith("… and 1000 more characters")


def test_an_event_with_text_that_json_cannot_hold_is_still_a_line():
    line = ndjson.line(events.Delta("half \ud83d"))

    assert line == b'{"type":"delta","durable":false,"seq":null,"text":"half \\\\ud83d","reasoning":false}\n'


def test_a_verdict_says_what_kind_it_is():
    assert ndjson.plain(events.Ruled(8, "checks_passed", Retry("why", "what", "bash"))) == {
        "type": "ruled",
        "durable": True,
        "seq": 8,
        "gate": "checks_passed",
        "ruling": {"type": "retry", "reason": "why", "message": "what", "require_tool": "bash"},
    }
