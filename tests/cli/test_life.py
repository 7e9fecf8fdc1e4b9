"""Sessions from the command line: forked, titled, taken elsewhere, deleted, followed up; and killed meanwhile."""

import json
import re
import signal
import subprocess
import threading

import pytest
from support.chat_server import HANG, ChatServer, calls_turn, chunk, text_turn

from fsm.cli import call


def line(server, task):
    return ("run", task, "--model", "m", "--base-url", server.url, "--session", "s")


def listed(interlock, *flags):
    return {found["session"]: found for found in json.loads(interlock("sessions", "--json", *flags).stdout)}


@pytest.fixture
def here(workspace, monkeypatch, capfd):
    """The command within this process: for what needs no process of its own."""
    monkeypatch.chdir(workspace)

    def run(*words):
        status = call([*words])
        done = capfd.readouterr()
        return subprocess.CompletedProcess(words, status, done.out, done.err)

    return run


@pytest.fixture
def inside(session, here):
    """The same, where session "s" has come to its end."""
    return here


def texts(request):
    """What the user said, without what the host says before it."""
    said = [message["content"] for message in request["messages"] if message["role"] == "user"]
    return [text.rpartition("</runtime-context>\n\n")[2] for text in said]


def test_a_fork_asks_the_same_server_and_goes_its_own_way(here):
    turns = [text_turn("One."), text_turn("Two, there."), text_turn("Two, here.")]
    with ChatServer(lambda body, number: turns[number]) as server:
        here(*line(server, "Repair what is broken."))
        made = here("fork", "s", "--name", "f")
        there = here("resume", "f", "and there?")
        origin = here("resume", "s", "and here?")

    assert (made.returncode, made.stdout) == (0, "f\n")
    assert "interlock resume f" in made.stderr
    assert (there.stdout, origin.stdout) == ("Two, there.\n", "Two, here.\n")
    assert texts(server.requests[2]) == ["Repair what is broken.", "and here?"]
    assert listed(here)["f"]["forked_from"] == "s"
    assert "forked from s after its record" in here("show", "f").stdout
    assert here("audit", "f").returncode == 0


def test_a_fork_at_a_record_begins_as_it_was_there(inside):
    entries = json.loads(inside("show", "s", "--json").stdout)["entries"]
    before = next(e["seq"] for e in entries if e["record"].get("target") == "dispatch_tools")
    made = inside("fork", "s", "--at", str(before), "--name", "f")
    middle = inside("fork", "s", "--at", str(before - 1), "--name", "g")

    assert made.returncode == 0
    assert json.loads(inside("show", "f", "--json").stdout)["state"] == "dispatch_tools"
    assert middle.returncode == 2
    assert re.search(rf"fork at \d+ or {before}\n", middle.stderr)


def test_a_title_stands_in_the_list(inside):
    assert inside("title", "s", "What add does").returncode == 0
    assert listed(inside)["s"]["title"] == "What add does"
    assert "What add does" in inside("sessions").stdout
    assert inside("audit", "s").returncode == 0


def test_a_session_goes_into_a_file_and_out_of_it_elsewhere(inside, tmp_path):
    file, other = tmp_path / "s.jsonl", str(tmp_path / "other" / "runs.db")
    wrote = inside("export", "s", "-o", str(file))
    printed = inside("export", "s")
    took = inside("import", str(file), "--journal", other)
    shown = inside("show", "s", "--journal", other)

    assert (wrote.returncode, took.returncode, took.stdout) == (0, 0, "s\n")
    assert printed.stdout == file.read_text()
    assert shown.stdout == inside("show", "s").stdout
    assert inside("audit", "s", "--journal", other).returncode == 0
    assert inside("import", str(file), "--journal", other).returncode == 2
    assert inside("import", str(file), "--journal", other, "--name", "t").stdout == "t\n"


def test_an_edited_file_is_refused_naming_the_record(inside, tmp_path):
    file = tmp_path / "s.jsonl"
    lines = inside("export", "s").stdout.splitlines(keepends=True)
    file.write_text("".join([*lines[:2], lines[2].replace("What does", "Who does"), *lines[3:]]))
    took = inside("import", str(file), "--journal", str(tmp_path / "other.db"))

    assert took.returncode == 1
    assert "entry 2: its digest does not match" in took.stderr
    assert listed(inside, "--journal", str(tmp_path / "other.db")) == {}


def test_a_deleted_session_is_gone_with_what_was_kept_for_it(inside, workspace, everything):
    assert b"calc.py" in everything()
    assert inside("delete", "s").returncode == 0
    assert listed(inside) == {}
    assert inside("show", "s").returncode == 2
    assert not list((workspace / ".interlock" / "journal.db.settings").iterdir())
    assert inside("delete", "s").returncode == 2


class Held:
    """A model that answers, and holds its answer number `at` back until it is let go."""

    def __init__(self, *turns, at=0):
        self.turns, self.at, self.asked, self.go_on = turns, at, threading.Event(), threading.Event()

    def __call__(self, body, number):
        if number == self.at:
            self.asked.set()
            assert self.go_on.wait(30)
        return self.turns[number]


def test_a_follow_up_that_is_queued_while_a_run_goes_on_begins_when_it_has_succeeded(interlock, here):
    script = Held(text_turn("One."), text_turn("Two."))
    with ChatServer(script) as server:
        process = interlock.start(*line(server, "the first thing"))
        assert script.asked.wait(30)
        queued = [here("follow-up", "s", "the second thing", "--id", "7") for _ in range(2)]
        held = here("delete", "s")
        script.go_on.set()
        out, _ = process.communicate(timeout=30)

    assert [done.returncode for done in queued] == [0, 0]
    assert "takes it up" in queued[0].stderr
    assert (process.returncode, out) == (0, "One.\nTwo.\n")
    assert texts(server.requests[1]) == ["the first thing", "the second thing"]
    assert held.returncode == 2
    assert "is being run by process" in held.stderr
    facts = listed(here)["s"]
    assert (facts["run"], facts["session_tokens"]) == (2, 2 * facts["tokens"])


@pytest.mark.parametrize("at", [1, 2])
def test_a_kill_in_a_follow_up_loses_no_answer_and_repeats_no_run(interlock, here, at):
    """Killed in the second run: the first answer is durable, and is given again; the second run goes on."""

    def script(body, number):
        if number == at:
            asked.set()
            return [chunk({"content": "Half"}), HANG]
        return turns[number - (number > at)]

    turns = [text_turn("One."), calls_turn([("read_file", {"path": "calc.py"})]), text_turn("Two.")]
    asked = threading.Event()
    with ChatServer(script) as server:
        here(*line(server, "the first thing"))
        here("follow-up", "s", "the second thing")
        process = interlock.start("resume", "s", "--events", "ndjson")
        assert asked.wait(30)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        done = here("resume", "s")

    assert (done.returncode, done.stdout) == (0, "Two.\n")
    shown = json.loads(here("show", "s", "--json").stdout)
    inputs = [e["record"]["text"] for e in shown["entries"] if e["record"]["kind"] == "user_input"]
    assert inputs == ["the first thing", "the second thing"]
    lost = [e for e in shown["entries"] if e["record"]["kind"] == "interruption"]
    assert len(lost) == at - 1, "told once, if anything had been said"
    assert here("audit", "s").returncode == 0


def test_an_answer_is_given_again_without_asking_the_model(here):
    with ChatServer([text_turn("One.")]) as server:
        here(*line(server, "Repair what is broken."))
        again = here("resume", "s")

    assert (again.returncode, again.stdout) == (0, "One.\n")
    assert len(server.requests) == 1
