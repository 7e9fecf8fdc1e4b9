"""Approvals, interrupts, messages from other processes, crashes: a run rests and goes on."""

import json
import os
import pty
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from support.chat_server import HANG, ChatServer, calls_turn, chunk, error, text_turn

from states.ledger import HEADINGS, INSTRUCTION

WRITE = calls_turn([("write_file", {"path": "new.txt", "content": "hello"})])
NOT_HANGING = text_turn("Done.")


class Slow:
    """A script whose first answer hangs in the middle, and which tells when it was asked."""

    def __init__(self, then=NOT_HANGING):
        self.asked = threading.Event()
        self.then = then

    def __call__(self, body, number):
        self.asked.set()
        return [chunk({"content": "Half an ans"}), HANG] if number == 0 else self.then


def finish(process):
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


# --- approvals --------------------------------------------------------------------------------------------------


def test_a_change_waits_for_a_person_and_goes_on_with_a_yes(interlock, workspace):
    with ChatServer([WRITE, text_turn("Written.")]) as server:
        asked = interlock.run(server)
        assert not (workspace / "new.txt").exists()
        done = interlock("resume", "s", "--approve", "call_1_0")

    assert asked.returncode == 3
    assert "interlock resume s --approve call_1_0" in asked.stderr
    assert "interlock resume s --deny call_1_0" in asked.stderr
    assert (done.returncode, done.stdout) == (0, "Written.\n")
    assert (workspace / "new.txt").read_text() == "hello"


def test_the_model_hears_why_a_person_said_no(interlock, workspace):
    with ChatServer([WRITE, text_turn("As you wish.")]) as server:
        interlock.run(server)
        done = interlock("resume", "s", "--deny", "call_1_0", "--reason", "not in this folder")

    assert done.returncode == 0
    assert "not in this folder" in server.requests[1]["messages"][-1]["content"]
    assert not (workspace / "new.txt").exists()


def test_an_answer_to_no_question_is_refused(interlock):
    with ChatServer([WRITE]) as server:
        interlock.run(server)
        done = interlock("resume", "s", "--approve", "call_9_9")

    assert done.returncode == 2
    assert "waiting: call_1_0" in done.stderr


def ask_at_a_terminal(interlock, server, *answers):
    """Run with a terminal, answer each prompt, and return (status, standard output, what the terminal showed)."""
    master, slave = pty.openpty()
    process = interlock.start(*interlock.line(server, "write it"), stdin=slave, stderr=slave)
    os.close(slave)
    watchdog = threading.Timer(30, process.kill)
    watchdog.start()
    shown, left = b"", list(answers)
    with suppress(OSError):  # Linux: the other end is closed
        while piece := os.read(master, 4096):
            shown += piece
            if left and any(shown.endswith(prompt) for prompt in (b"[q]uit: ", b"reads it: ")):
                os.write(master, left.pop(0).encode())
    watchdog.cancel()
    os.close(master)
    out = process.stdout.read()
    process.stdout.close()
    return process.wait(30), out, shown.decode()


def test_at_a_terminal_the_question_is_asked_and_answered_there(interlock, workspace, no_escapes):
    with ChatServer([WRITE, text_turn("Written.")]) as server:
        status, out, shown = ask_at_a_terminal(interlock, server, "y\n")

    assert (status, out) == (0, "Written.\n")
    assert "write_file wants to run" in no_escapes(shown)
    assert "content: hello" in no_escapes(shown)
    assert (workspace / "new.txt").exists()


def test_at_a_terminal_a_no_takes_a_reason(interlock, workspace):
    with ChatServer([WRITE, text_turn("Then not.")]) as server:
        status, out, _ = ask_at_a_terminal(interlock, server, "n\n", "too short\n")

    assert (status, out) == (0, "Then not.\n")
    assert "too short" in server.requests[1]["messages"][-1]["content"]
    assert not (workspace / "new.txt").exists()


@pytest.mark.parametrize(("key", "status"), [("q\n", 3), ("\x04", 130)])
def test_at_a_terminal_leaving_the_question_open_lets_the_run_rest(interlock, key, status, no_escapes):
    with ChatServer([WRITE, text_turn("Written.")]) as server:
        left, out, shown = ask_at_a_terminal(interlock, server, key)

    assert (left, out) == (status, "")
    assert "approve: interlock resume s --approve call_1_0" in no_escapes(shown)


# --- interrupts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_rests_and_a_resume_ends_the_job(interlock, signum):
    script = Slow()
    with ChatServer(script) as server:
        process = interlock.start(*interlock.line(server, "go"))
        assert script.asked.wait(30)
        process.send_signal(signum)
        status, out, err = finish(process)
        done = interlock("resume", "s")

    assert (status, out) == (130, "")
    assert "go on: interlock resume s" in err
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert interlock("audit", "s").returncode == 0


def test_a_second_interrupt_leaves_at_once(interlock, workspace):
    stubborn = "trap '' TERM INT; echo up > up; echo ready; while :; do sleep 0.05; done"
    with ChatServer([calls_turn([("bash", {"command": stubborn})]), text_turn("Done.")]) as server:
        process = interlock.start(*interlock.line(server, "go", "--permission", "full", "--events", "ndjson"))
        for line in process.stdout:
            if json.loads(line)["type"] == "tool_progress":
                break
        process.send_signal(signal.SIGINT)
        assert "once more to leave at once" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        status, out, _ = finish(process)
        done = interlock("resume", "s")

    assert status == 130
    assert '"run_end"' not in out
    assert done.returncode == 0
    assert "it may have happened" in server.requests[1]["messages"][-2]["content"].lower()


def test_a_killed_run_goes_on_and_a_lost_call_is_called_unknown(interlock, workspace):
    with ChatServer([calls_turn([("bash", {"command": "echo up; sleep 60"})]), text_turn("I looked.")]) as server:
        process = interlock.start(*interlock.line(server, "go", "--permission", "full", "--events", "ndjson"))
        for line in process.stdout:
            if json.loads(line)["type"] == "tool_progress":
                break
        process.kill()
        finish(process)
        done = interlock("resume", "s")

    assert (done.returncode, done.stdout) == (0, "I looked.\n")
    assert server.requests[1]["messages"][-2]["content"].startswith("Unknown")
    assert "interrupted" in server.requests[1]["messages"][-1]["content"]
    assert interlock("audit", "s").returncode == 0


# --- other processes --------------------------------------------------------------------------------------------


def test_a_message_of_another_process_reaches_the_running_one(interlock):
    asked, go_on = threading.Event(), threading.Event()

    def script(body, number):
        asked.set()
        assert go_on.wait(30)
        return text_turn(f"Answer {number}.")

    with ChatServer(script) as server:
        process = interlock.start(*interlock.line(server, "go"))
        assert asked.wait(30)
        steered = interlock("steer", "s", "and in French")
        go_on.set()
        status, out, _ = finish(process)

    assert steered.returncode == 0
    assert (status, out) == (0, "Answer 1.\n")
    assert server.requests[1]["messages"][-1] == {"role": "user", "content": "and in French"}


def test_a_message_to_a_resting_session_waits_for_the_resume(interlock):
    with ChatServer([text_turn("One."), text_turn("Two.")]) as server:
        interlock.run(server)
        steered = interlock("steer", "s", "again, please")
        done = interlock("resume", "s")

    assert "interlock resume s" in steered.stderr
    assert (done.returncode, done.stdout) == (0, "Two.\n")
    assert "again, please" in [message["content"] for message in server.requests[1]["messages"]]


def test_another_process_can_let_a_run_rest(interlock):
    script = Slow()
    with ChatServer(script) as server:
        process = interlock.start(*interlock.line(server, "go"))
        assert script.asked.wait(30)
        cancelled = interlock("cancel", "s")
        status, out, err = finish(process)
        again = interlock("cancel", "s")
        done = interlock("resume", "s")

    assert (cancelled.returncode, status, out) == (0, 3, "")
    assert "suspended (resume)" in err
    assert "at rest already" in again.stderr
    assert (done.returncode, done.stdout) == (0, "Done.\n")


def test_a_session_is_not_run_by_two_processes(interlock):
    script = Slow()
    with ChatServer(script) as server:
        process = interlock.start(*interlock.line(server, "go"))
        assert script.asked.wait(30)
        second = interlock("resume", "s")
        process.send_signal(signal.SIGINT)
        finish(process)

    assert second.returncode == 2
    assert f"process {process.pid}" in second.stderr


# --- what a resume goes by --------------------------------------------------------------------------------------


def test_a_following_run_owes_what_the_last_one_owed(interlock):
    check = calls_turn([("bash", {"command": "true"})])
    with ChatServer([check, text_turn("One."), text_turn("Two."), check, text_turn("Two, tested.")]) as server:
        interlock.run(server, "--permission", "full", "--check", "true")
        done = interlock("resume", "s", "and another thing")

    assert (done.returncode, done.stdout) == (0, "Two, tested.\n")
    assert "You are not done" in server.requests[3]["messages"][-1]["content"]


def test_duties_cannot_be_changed_under_way(interlock):
    with ChatServer([WRITE]) as server:
        interlock.run(server)
        done = interlock("resume", "s", "--check", "true")

    assert done.returncode == 2
    assert "--check" in done.stderr
    assert "for a run that begins" in done.stderr


def test_a_resume_with_full_permission_lets_the_waiting_call_run(interlock, workspace):
    with ChatServer([WRITE, text_turn("Written.")]) as server:
        first = interlock.run(server)
        second = interlock("resume", "s", "--permission", "full")

    assert (first.returncode, second.returncode) == (3, 0)
    assert second.stdout == "Written.\n"
    assert interlock("audit", "s").returncode == 0


def test_an_address_that_only_the_session_names_gets_no_key(interlock, workspace):
    with ChatServer([WRITE]) as server:
        interlock.run(server)
    (kept,) = (workspace / ".interlock" / "journal.db.settings").iterdir()
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"base_url": "https://evil.example/v1"}))
    done = interlock("resume", "s", env={"OPENAI_API_KEY": "sk-0123456789"})

    assert done.returncode == 2
    assert "the session would send the key in OPENAI_API_KEY to evil.example" in done.stderr


def test_a_key_in_somebodys_words_is_not_stored(interlock, workspace):
    key = "sk-0123456789abcdef"
    with ChatServer([WRITE]) as server:
        interlock.run(server)
    said = interlock("steer", "s", f"use {key} for it", env={"OPENAI_API_KEY": key})

    assert said.returncode == 0
    folder = workspace / ".interlock"
    assert not [file for file in folder.glob("journal.db*") if file.is_file() and key.encode() in file.read_bytes()]


def test_a_run_that_has_cost_too_much_says_where_it_stands_and_goes_on_with_more(interlock):
    turns = [calls_turn([("read_file", {"path": "calc.py"})]), text_turn("It subtracts.")]
    priced = ("--model", "scripted", "--price", "10,1,20")  # the name under which the server answers
    with ChatServer(turns) as server:
        rests = interlock.run(server, *priced, "--budget-cost", "0.0001")
        done = interlock("resume", "s", *priced, "--budget-cost", "1")

    assert rests.returncode == 3
    assert "out of budget: 0.0002 of 0.0001 USD" in rests.stderr
    assert "Spent: 1 turns" in rests.stderr
    assert (done.returncode, done.stdout) == (0, "It subtracts.\n")
    shown = json.loads(interlock("show", "s", "--json").stdout)
    assert shown["cost"] == pytest.approx(0.0004)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--budget-cost", "1"), "--price INPUT,CACHED,OUTPUT"),
        (("--price", "cheap"), "it takes three numbers"),
        (("--budget-tokens", "5", "--budget-reserve", "5"), "has to be smaller than tokens"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_a_usage_error(interlock, words, said):
    done = interlock("run", "go", "--model", "m", "--base-url", "http://127.0.0.1:9", *words)

    assert done.returncode == 2
    assert said in done.stderr


def test_rules_of_flags_and_of_the_file_hold_in_every_resume(interlock, workspace):
    (workspace / "interlock.toml").write_text('[permission]\nmode = "ask"\nallow = ["bash(echo *)"]\n')
    turns = [
        calls_turn([("bash", {"command": "echo up"}), ("bash", {"command": "echo x && touch made"})]),
        calls_turn([("bash", {"command": "touch made && echo x"}), ("bash", {"command": "sudo rm -rf made"})]),
        text_turn("ok"),
    ]
    with ChatServer(turns) as server:
        first = interlock.run(server, "--deny", "bash(rm *)")
        assert first.returncode == 3, first.stderr
        assert "interlock.toml lets run without asking: bash(echo *)" in first.stderr
        assert "call_1_0" not in first.stderr.split("approve", 1)[1], "only the second waits"
        done = interlock("resume", "s", "--approve", "call_1_1", "--remember", "--allow", "bash(touch made)")

    assert done.returncode == 0, done.stderr
    assert (workspace / "made").exists()
    assert "Denied: deny bash(rm *)" in server.requests[2]["messages"][-1]["content"]
    assert "allow bash(touch made)" in interlock("show", "s").stdout


@pytest.mark.parametrize(
    ("file", "words", "named"),
    [
        ("", ("--deny", "bsh(rm *)"), "'bsh(rm *)' is about no known tool"),
        ("", ("--allow", "bash(rm"), "is no rule"),
        ('[permission]\nmod = "ask"', (), "unknown setting 'mod' in [permission]"),
        ('allow = ["bash"]', (), "allow stands under [permission]"),
    ],
)
def test_a_rule_that_would_do_nothing_is_named(interlock, workspace, file, words, named):
    (workspace / "interlock.toml").write_text(file)
    done = interlock("run", "task", "--model", "m", "--base-url", "http://127.0.0.1:9", *words)

    assert done.returncode == 2
    assert named in done.stderr


def test_a_run_falls_back_and_a_later_process_goes_on_with_the_same_provider(interlock):
    """The second one rests for want of an answer, too; the resume asks it, and not the first one again."""
    answers = [error(503, "busy"), text_turn("It is done.")]
    with (
        ChatServer(lambda *_: error(503, "busy")) as first,
        ChatServer(lambda _, number: answers[min(number, 1)]) as second,
    ):
        fallback = f"openai:other@{second.url}"
        rested = interlock.run(first, "--fallback", fallback, "--patience", "0")
        asked = len(first.requests)
        went_on = interlock("resume", "s", "--patience", "0")
        shown = interlock("show", "s").stdout

    assert (rested.returncode, went_on.returncode) == (3, 0), went_on.stderr
    assert "other is asked from now on" in rested.stderr
    assert (went_on.stdout, len(first.requests)) == ("It is done.\n", asked)
    assert "other is asked from now on" in shown


def test_a_fallback_without_a_provider_is_refused_in_words(interlock):
    said = interlock("run", "x", "--model", "m", "--base-url", "http://127.0.0.1:9", "--fallback", "gpt")

    assert (said.returncode, "write PROVIDER:MODEL" in said.stderr) == (2, True)


def test_a_hook_of_the_workspace_runs_only_if_it_is_trusted(interlock, workspace):
    (workspace / "interlock.toml").write_text(
        '[[hooks.PreToolUse]]\nmatcher = "Read"\n'
        'hooks = [{ type = "command", command = "touch hooked; echo private >&2; exit 2" }]\n'
    )
    turns = [calls_turn([("read_file", {"path": "calc.py"})]), text_turn("ok")]
    with ChatServer(turns) as server:
        refused = interlock.run(server)
        assert refused.returncode == 2
        assert "--hooks trust" in refused.stderr
        assert not (workspace / "hooked").exists()
        done = interlock.run(server, "--hooks", "trust")

    assert done.returncode == 0, done.stderr
    assert (workspace / "hooked").exists()
    assert "Denied by a hook: private" in server.requests[1]["messages"][-1]["content"]


def test_a_server_of_the_workspaces_file_is_started_if_it_is_trusted_and_its_tools_are_offered(interlock, workspace):
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    probe = Path(__file__).parents[1] / "support" / "mcp_server.py"
    (workspace / "interlock.toml").write_text(
        f"[mcp.probe]\ncommand = {sys.executable!r}\nargs = ['-P', {str(probe)!r}, 'stdio', 'mcp.log']\n"
        "tools = ['add', 'put']\nread-only = ['add']\nstart-seconds = 60\n"
    )
    turns = [calls_turn([("mcp__probe__add", {"a": 20, "b": 22})]), text_turn("42")]
    with ChatServer(turns) as server:
        refused = interlock.run(server)
        assert (refused.returncode, "--mcp trust" in refused.stderr) == (2, True)
        assert server.requests == []
        done = interlock.run(server, "--mcp", "trust", "--limit", "mcp__probe__add=1")

    assert done.returncode == 0, done.stderr
    assert server.requests[1]["messages"][-1]["content"] == "42"
    offered = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
    assert {name for name in offered if name.startswith("mcp__")} == {"mcp__probe__add", "mcp__probe__put"}


def test_a_limit_on_a_tool_that_there_is_not_is_refused(interlock):
    with ChatServer([text_turn("ok")]) as server:
        said = interlock.run(server, "--limit", "bsh=1")

    assert (said.returncode, "there is no tool 'bsh'; there are process, session" in said.stderr) == (2, True)


def test_a_session_is_compacted_by_hand_and_shown_whole(interlock):
    ledger = "\n".join(f"## {heading}\nnone" for heading in HEADINGS)

    def script(body, number):
        if INSTRUCTION[:60] in str(body["messages"][-1]):
            return text_turn(ledger)
        return calls_turn([("read_file", {"path": "calc.py"})], "w" * 4000) if number < 2 else text_turn("It is done.")

    with ChatServer(script) as server:
        interlock.run(server)
        made = interlock("compact", "s")
        again = interlock("resume", "s", "And now?")
        shown = interlock("show", "s").stdout
        audited = interlock("audit", "s")

    assert made.returncode == 0, made.stderr
    assert "messages are replaced by a ledger" in made.stderr
    assert (again.stdout, audited.returncode) == ("It is done.\n", 0)
    assert ledger in server.requests[-1]["messages"][1]["content"]
    assert "compacted (asked, ledger)" in shown
    assert "w" * 4000 in shown  # the journal keeps what the model does not see any more


def test_a_ledger_that_cannot_be_had_leaves_the_session_as_it_was(interlock):
    turns = [calls_turn([("read_file", {"path": "calc.py"})]), text_turn("It is done.")]
    with ChatServer(lambda body, number: turns[number] if number < 2 else text_turn("no ledger")) as server:
        interlock.run(server)
        made = interlock("compact", "s")
        resumed = interlock("resume", "s", "And now?")

    assert (made.returncode, "is as it was" in made.stderr) == (1, True)
    assert resumed.returncode == 0
    assert len(server.requests[-1]["messages"]) > 5


def test_a_session_that_nobody_began_cannot_be_compacted(interlock):
    assert interlock("compact", "s", "--model", "m", "--base-url", "http://127.0.0.1:9").returncode == 2
