"""Plans and questions from the command line: shown, answered, and carried out."""

import os
import pty
import threading
from contextlib import suppress

from support.chat_server import ChatServer, calls_turn, text_turn

PLAN = calls_turn([("submit_plan", {"plan": "1. Write hello into new.txt"})])
WRITE = calls_turn([("write_file", {"path": "new.txt", "content": "hello"})])


def test_a_plan_is_shown_approved_and_carried_out(interlock, workspace):
    turns = [PLAN, WRITE, text_turn("Written.")]
    with ChatServer(lambda body, number: turns[number]) as server:
        rests = interlock.run(server, "--permission", "plan")
        nothing_yet = not (workspace / "new.txt").exists()
        done = interlock("resume", "s", "--approve-plan", "--permission", "full")

    assert (rests.returncode, nothing_yet) == (3, True)
    assert "1. Write hello into new.txt" in rests.stderr
    assert "interlock resume s --approve-plan" in rests.stderr
    assert "interlock resume s --reject-plan" in rests.stderr
    assert (done.returncode, done.stdout) == (0, "Written.\n")
    assert (workspace / "new.txt").read_text() == "hello"
    assert {tool["function"]["name"] for tool in server.requests[0]["tools"]} >= {"read_file", "submit_plan"}
    assert not {tool["function"]["name"] for tool in server.requests[0]["tools"]} & {"write_file", "bash"}
    assert "the plan is approved by a person" in interlock("show", "s").stdout
    assert interlock("audit", "s").returncode == 0


def test_a_person_at_the_terminal_is_shown_the_plan_and_asked(interlock, workspace):
    turns = [PLAN, PLAN, WRITE, text_turn("Written.")]
    answers = [(b"[q]uit: ", b"r\n"), (b"reads it: ", b"say hello\n"), (b"[q]uit: ", b"f\n")]
    with ChatServer(lambda body, number: turns[number]) as server:
        master, slave = pty.openpty()
        line = interlock.line(server, "write it", "--permission", "plan")
        process = interlock.start(*line, stdin=slave, stderr=slave)
        os.close(slave)
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        shown = b""
        with suppress(OSError):  # Linux: the other end is closed
            while piece := os.read(master, 4096):
                shown += piece
                if answers and shown.endswith(answers[0][0]):
                    os.write(master, answers.pop(0)[1])
        out = process.stdout.read()
        process.wait(30)
        watchdog.cancel()
        os.close(master)

    assert b"1. Write hello into new.txt" in shown
    assert (process.returncode, out) == (0, "Written.\n")
    assert "say hello" in server.requests[1]["messages"][-1]["content"]
    assert (workspace / "new.txt").read_text() == "hello"
