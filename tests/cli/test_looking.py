"""sessions, show, diagram, check: what can be seen, and what is said where nothing can."""

import json
import os
import subprocess
import sys

import pytest
from support.chat_server import ChatServer, text_turn


def test_a_session_is_listed_with_its_state_and_its_task(session):
    table = session("sessions")
    (listed,) = json.loads(session("sessions", "--json").stdout)

    assert table.returncode == 0
    assert table.stdout.split()[:6] == ["session", "state", "turns", "updated", "owner", "task"]
    assert "What does \\x1b[2J it do?" in table.stdout
    assert listed.keys() == {
        *("session", "state", "error", "run", "turns", "tool_calls", "tokens", "entries", "created", "updated"),
        *("owner", "model", "task", "agent", "parent", "session_tokens", "title", "forked_from"),
    }
    assert (listed["session"], listed["state"], listed["turns"], listed["model"]) == ("s", "succeeded", 2, "m")


@pytest.mark.forged
def test_a_damaged_session_is_listed_as_such_beside_the_others(session, workspace):
    import apsw

    with ChatServer([text_turn("Fine.")]) as server:
        session("run", "fine", "--model", "m", "--base-url", server.url, "--session", "t")
    connection = apsw.Connection(str(workspace / ".interlock" / "journal.db"))
    connection.execute("DROP TRIGGER journal_no_update")
    connection.execute("UPDATE journal SET at = 1 WHERE session_id = 's' AND seq = 3")
    connection.close()
    listed = {facts["session"]: facts for facts in json.loads(session("sessions", "--json").stdout)}

    assert (listed["s"]["state"], listed["t"]["state"]) == (None, "succeeded")
    assert "entry 3" in listed["s"]["error"]
    assert "unreadable" in session("sessions").stdout
    assert session("show", "s").returncode == 1


def test_the_conversation_is_shown_with_what_it_rests_on(session):
    shown = session("show", "s").stdout

    for words in (
        "user: What does \\x1b[2J it do?",
        "assistant: I look.\n    call_1_0: read_file calc.py",
        "call_1_0 ok: read_file calc.py\n    def add(a, b):",
        "assistant: It subtracts.",
        "the receipt: what this rests on",
        "gates that passed: ",
    ):
        assert words in shown
    assert "\x1b" not in shown


def test_the_same_for_programs(session):
    whole = json.loads(session("show", "s", "--json").stdout)

    assert whole.keys() == {
        *("session", "state", "status", "reason", "message", "text", "run", "turns", "tool_calls", "usage", "cost"),
        *("summary", "contract", "output_schema", "output", "receipt", "waiting", "entries"),
        *("session_usage", "title", "forked_from", "goal"),
    }
    assert (whole["status"], whole["reason"], whole["text"]) == ("succeeded", "finished", "It subtracts.")
    assert [entry["seq"] for entry in whole["entries"]] == list(range(1, len(whole["entries"]) + 1))
    assert whole["entries"][0]["record"]["kind"] == "run_started"


def test_a_reader_that_stops_early_is_no_error_to_shout_about(session):
    reader, writer = os.pipe()
    os.close(reader)
    process = session.start("show", "s", stdout=writer)
    os.close(writer)
    said = process.stderr.read()

    assert (process.wait(30), said) == (1, "")


@pytest.mark.parametrize(
    "words", [["show", "s"], ["audit", "s"], ["resume", "s"], ["steer", "s", "x"], ["cancel", "s"]]
)
def test_without_a_journal_nothing_is_made(words, workspace, monkeypatch, capsys):
    from fsm.cli import call

    monkeypatch.chdir(workspace)

    assert call(words) == 2
    assert "there is no journal" in capsys.readouterr().err
    assert not (workspace / ".interlock").exists()


def test_no_journal_holds_no_sessions(interlock):
    assert json.loads(interlock("sessions", "--json").stdout) == []


def test_an_unknown_session_is_the_callers_mistake(session, monkeypatch, capsys):
    from fsm.cli import call

    monkeypatch.chdir(session.workspace)
    for words in (["show", "x"], ["audit", "x"], ["resume", "x"], ["steer", "x", "y"], ["cancel", "x"]):
        assert call(words) == 2
        assert "there is no session 'x'" in capsys.readouterr().err


def test_a_file_that_is_no_journal_is_left_alone(interlock, workspace):
    journal = workspace / "notes.db"
    journal.write_text("These are my notes, not a database. " * 200)
    before = journal.read_bytes()
    with ChatServer([text_turn("x")]) as server:
        ran = interlock.run(server, "--journal", "notes.db")
    looked = interlock("show", "s", "--journal", "notes.db")

    for done in (ran, looked):
        assert done.returncode == 1
        assert "it was left alone" in done.stderr
        assert done.stderr.count("\n") == 1
    assert journal.read_bytes() == before


@pytest.mark.parametrize(
    "place",
    [
        "calc.py/journal.db",
        pytest.param("/proc/self/journal.db", marks=pytest.mark.skipif(sys.platform != "linux", reason="of Linux")),
        pytest.param("locked/journal.db", marks=pytest.mark.skipif(os.geteuid() == 0, reason="root may write")),
    ],
)
def test_a_place_that_cannot_be_written_is_said_in_a_sentence(interlock, workspace, place):
    (workspace / "locked").mkdir(mode=0o555)
    with ChatServer([text_turn("x")]) as server:
        done = interlock.run(server, "--journal", place)

    assert (done.returncode, server.requests) == (1, [])
    assert "journal.db" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("wanted", "start"),
    [
        ("mermaid", "flowchart"),
        ("dot", "digraph"),
        ("svg", "<svg"),
        ("markdown", "```mermaid"),
        ("terminal", "provider_turn"),
    ],
)
def test_the_table_is_drawn(wanted, start, workspace, monkeypatch, capfdbinary):
    from fsm.cli import call

    monkeypatch.chdir(workspace)
    assert call(["diagram", "--format", wanted]) == 0
    drawn = capfdbinary.readouterr().out.decode()
    assert drawn.lstrip().startswith(start)
    assert "provider_turn" in drawn
    assert call(["diagram", "--format", wanted, "-o", "out"]) == 0
    assert (workspace / "out").read_text() == drawn
    assert call(["diagram", "-o", "no/such/folder/out"]) == 2


def test_the_way_of_a_session_is_marked(session):
    plain, marked = session("diagram").stdout, session("diagram", "--session", "s").stdout

    assert plain.count("==>") == 0
    assert marked.count("==>") > 5
    told = session("diagram", "--session", "s", "--format", "terminal").stdout
    assert "succeeded  (end; 1×; ended here)" in told


def test_a_part_and_a_difference_are_drawn_and_bad_words_are_named(workspace, monkeypatch, capsys):
    from fsm.cli import call

    (workspace / "other.py").write_text(
        "from fsm import GRAPH\nLESS = tuple(r for r in GRAPH if r.event != 'verified')\n"
    )
    monkeypatch.chdir(workspace)
    monkeypatch.syspath_prepend(str(workspace))
    assert call(["diagram", "--state", "verify", "--format", "svg", "--theme", "dark", "-o", "part.svg"]) == 0
    part = (workspace / "part.svg").read_text()
    assert "checks_passed" in part
    assert "turn_whole" not in part
    assert "prefers-color-scheme" not in part
    assert call(["diagram", "--diff", "other:LESS", "--format", "markdown", "-o", "diff.md"]) == 0
    assert "| **+" in (workspace / "diff.md").read_text()
    assert call(["diagram", "--state", "nowhere"]) == 2
    assert "there is no state 'nowhere'; there are: provider_turn" in capsys.readouterr().err
    assert call(["diagram", "--state", "failed"]) == 2
    assert call(["diagram", "--diff", "other:LESS", "--session", "s"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_a_table_of_ones_own_is_read_and_what_is_wrong_with_it_is_said(session, workspace):
    """That the built-in one is proved by this command is a step of its own in `.ci/run`: it searches for seconds."""
    (workspace / "mine.py").write_text(
        "from fsm import GRAPH\nBAD = tuple(row for row in GRAPH if 'checks_passed' not in str(row.guards))\n"
    )
    bad = session("check", "mine:BAD")

    assert bad.returncode == 1
    assert "verify" in bad.stdout


def test_help_and_version_load_nothing_heavy(interlock):
    code = "import sys, fsm.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], env=interlock.env, capture_output=True, text=True, check=True
    ).stdout.split()

    assert not {"rich", "httpx", "apsw", "jsonschema", "fsm.checks", "fsm.draw", "fsm.journal"} & set(loaded)
    shown = interlock("--help").stdout
    for name in ("run", "resume", "steer", "cancel", "sessions", "show", "audit", "report", "diagram", "check", "demo"):
        assert f"  {name} " in shown
    assert interlock("--version").stdout.startswith("interlock ")


def test_the_unexpected_is_one_sentence_unless_debugged(workspace, monkeypatch, capsys):
    from fsm.cli import call

    monkeypatch.setattr("fsm.checks.shape.check", lambda graph: 1 / 0)

    assert call(["check"]) == 1
    brief = capsys.readouterr().err
    assert brief == "interlock: unexpected ZeroDivisionError: division by zero; `interlock --debug …` shows where\n"
    assert call(["--debug", "check"]) == 1
    assert "Traceback" in capsys.readouterr().err
