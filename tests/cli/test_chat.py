"""interlock chat: in a real terminal, and what each line means."""

import asyncio
import json
import threading

import pytest
from support.chat_server import HANG, ChatServer, calls_turn, chunk, text_turn
from support.screen import Screen

from fsm import events
from fsm.approvals import ApprovalAnswer
from fsm.cli.chat.room import Room
from fsm.cli.chat.said import Answer, Review, answer_in, review_in
from fsm.cli.chat.view import View
from fsm.cli.past import known
from fsm.cli.status import Status
from fsm.config import settings
from fsm.journal import open_journal
from fsm.result import Result, RunStatus
from states.contract import Permission
from states.ledger import HEADINGS, INSTRUCTION
from states.records import Cause, ChainChange, Compaction, How, Interruption, RunStarted, UserInput
from states.records import Status as Outcome

HOSTILE = "I \x1b]0;owned\x07 look. "


@pytest.fixture
def talk(interlock):
    """Starts `interlock chat` in a terminal of its own."""

    def start(server, *words):
        line = ("chat", "--session", "s", *words)
        model = ("--model", "m", "--base-url", server.url) if server else ()
        python = ("-m", "fsm.cli")
        env = interlock.env | {"TERM": "xterm-256color"}
        from sys import executable

        return Screen([executable, *python, *line, *model], cwd=interlock.workspace, env=env)

    return start


def said(request):
    return request["messages"][-1]["content"].rpartition("</runtime-context>\n\n")[2]


def test_a_conversation_with_an_approval_in_a_terminal(talk, workspace):
    turns = [
        calls_turn([("bash", {"command": "touch made"})], HOSTILE),
        text_turn("It is made."),
        text_turn("You are welcome."),
    ]
    with ChatServer(turns) as server, talk(server) as screen:
        screen.until("ready")
        screen.enter("Make it.")
        screen.until("allow? [y/a/n/l]")
        assert not (workspace / "made").exists()
        screen.enter("perhaps")
        screen.until("y (yes), a (always in this session)")
        screen.enter("y")
        screen.until("succeeded: 2 turns, 1 calls")
        screen.enter("/nothing")
        screen.until("there is no /nothing; there are: /help")
        screen.enter("/cost")
        screen.until("session s: 2 turns, 30 tokens")
        screen.enter("thanks")
        shown = screen.until("succeeded: 1 turns", after="> thanks")
        screen.enter("/quit")
        status = screen.wait()

    assert status == 0
    assert (workspace / "made").exists()
    assert "go on: interlock chat --session s" in screen.text
    order = ("> Make it.", r"I \x1b]0;owned\x07 look.", "bash wants to run:", "✓ bash touch made", "It is made.")
    places = [shown.index(part) for part in (*order, "> thanks", "You are welcome.")]
    assert places == sorted(places)
    assert b"\x1b]0;" not in screen.raw
    assert [said(request) for request in server.requests[::2]] == ["Make it.", "thanks"]
    history = workspace / ".interlock" / "chat_history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert "+Make it." in history.read_text()


class Gate:
    """Turns one after the other; one is held until the test lets it go."""

    def __init__(self, *turns, held=0):
        self.turns, self.held = turns, held
        self.asked, self.go_on = threading.Event(), threading.Event()

    def __call__(self, body, number):
        if number == self.held:
            self.asked.set()
            assert self.go_on.wait(60)
        return self.turns[number]


def test_steering_an_interrupt_and_another_chat_that_goes_on(talk, interlock):
    slow = [chunk({"role": "assistant", "content": "Half of an ans"}), HANG]
    slower = [chunk({"role": "assistant", "content": "Again a half"}), HANG]
    turns = (text_turn("One."), text_turn("One, in verse."), slow, slower, text_turn("Whole."), text_turn("Later."))
    script = Gate(*turns)
    with ChatServer(script) as server:
        with talk(server, "Begin.") as screen:
            assert script.asked.wait(60)
            screen.enter("in verse, please")
            screen.until("it hears this next")
            script.go_on.set()
            screen.until("succeeded: 2 turns")
            screen.enter("more")
            screen.until("Half of an ans")
            screen.type("\x03")
            screen.until("suspended (resume)")
            screen.until("ready", after="suspended (resume)")
            screen.enter("once more")
            screen.until("Again a half")
            screen.type("\x1b")  # Esc
            screen.until("suspended (resume)", after="Again a half")
            screen.until("ready", after="Again a half")
            screen.enter("go on")
            screen.until("succeeded", after="Whole.")
            screen.type("\x03")
            screen.until("Ctrl-C once more leaves")
            screen.type("\x03")
            assert screen.wait() == 130
        with talk(None) as screen:  # the server is the one that the session had
            screen.until("Whole.")
            screen.enter("and later")
            screen.until("Later.", after="> and later")
            screen.type("\x04")
            assert screen.wait() == 0

    words = [said(request) for request in server.requests]
    assert words == ["Begin.", "in verse, please", "more", "once more", "go on", "and later"]
    assert interlock("audit", "s").returncode == 0


def test_a_killed_chat_is_taken_up_where_it_was_lost(talk, interlock):
    hangs = [chunk({"role": "assistant", "content": "I begin"}), HANG]
    turns = [calls_turn([("read_file", {"path": "calc.py"})]), hangs, text_turn("It subtracts.")]
    with ChatServer(lambda body, number: turns[number]) as server:
        with talk(server, "What does it do?") as screen:
            screen.until("I begin")
            screen.kill()
        with talk(None) as screen:
            screen.until("lost in the middle of the work; it goes on")
            screen.until("succeeded: 2 turns")
            screen.process.terminate()
            assert screen.wait() == 0

    kinds = [entry["record"]["kind"] for entry in json.loads(interlock("show", "s", "--json").stdout)["entries"]]
    assert kinds.count("prestart") + kinds.count("tool_intent") == 1
    assert "interruption" in kinds
    assert said(server.requests[2]) == "The run was interrupted and is resumed. Go on from where it stopped."


def test_without_a_terminal_the_way_out_is_named(interlock):
    done = interlock("chat", "--model", "m")

    assert done.returncode == 2
    assert "chat needs a terminal; elsewhere use `interlock run`" in done.stderr


def test_without_the_extra_it_is_named(interlock, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'prompt_toolkit' else find(name, *more)\n"
    )
    done = interlock("chat", env={"PYTHONPATH": f"{tmp_path}:{interlock.env['PYTHONPATH']}"})

    assert done.returncode == 2
    assert "chat needs the extra `chat`: pip install 'interlock[chat]'" in done.stderr


# --- without a terminal -----------------------------------------------------------------------------------------


class Lines:
    """Stands for a terminal: types the next line when nothing goes on, or when something is asked."""

    def __init__(self, *lines):
        self.lines = list(lines)
        self.shown = []
        self.width = 80
        self.busy = lambda: False
        self.mark = str

    def say(self, text, style=""):
        self.shown.append(text)

    def redraw(self):
        pass

    def opened(self):
        from contextlib import nullcontext

        return nullcontext()

    async def line(self):
        while self.busy() and not self.mark().startswith("allow"):  # noqa: ASYNC110  the chat has no event for a test
            await asyncio.sleep(0.005)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)

    def leave(self):
        self.lines.clear()


def chat(workspace, server, *lines, session="s", **flags):
    flags = {"workspace": str(workspace), "model": "m", "base-url": server.url, **flags}
    chosen = settings(flags, {"HOME": str(workspace)})
    terminal = Lines(*lines)

    async def go():
        past = await known(chosen.journal, session)
        from fsm.cli.assemble import following_run, new_run

        plan = following_run(chosen, flags, past) if past else new_run(chosen)
        return await Room(chosen, plan, session, terminal, past).open(None)

    assert asyncio.run(asyncio.wait_for(go(), 60)) is Status.SUCCEEDED
    return terminal.shown


def records(workspace, kind, session="s"):
    async def read():
        journal = open_journal(str(workspace / ".interlock" / "journal.db"))
        try:
            return [entry.record for entry in await journal.read(session) if isinstance(entry.record, kind)]
        finally:
            await journal.close()

    return asyncio.run(read())


PLAN = calls_turn([("submit_plan", {"plan": "1. touch it"})])
MAKE = calls_turn([("bash", {"command": "touch made"})])


def test_a_plan_is_looked_at_corrected_and_carried_out(workspace):
    again = calls_turn([("submit_plan", {"plan": "2. touch it twice"})])
    turns = [PLAN, again, MAKE, text_turn("Done."), text_turn("!")]
    with ChatServer(lambda body, number: turns[number]) as server:
        shown = chat(workspace, server, "/plan Make it.", "twice, please", "f", "and now?")

    runs = [run.permission for run in records(workspace, RunStarted)]
    assert runs == [Permission.PLAN, Permission.FULL]  # what is said after the plan is no planning

    assert (workspace / "made").exists()
    assert "twice, please" in said(server.requests[1])
    assert "<plan>\n2. touch it twice\n</plan>" in said(server.requests[2])
    assert [line for line in shown if line in ("1. touch it", "2. touch it twice")] == [
        "1. touch it",
        "2. touch it twice",
    ]
    assert any(line.startswith("succeeded") for line in shown)


def test_a_refusal_is_read_by_the_model_and_later_leaves_the_call_waiting(workspace):
    with ChatServer([MAKE, MAKE, text_turn("Then not.")]) as server:
        first = chat(workspace, server, "Make it.", "n not that name", "l")
        assert not (workspace / "made").exists()
        second = chat(workspace, server, "y")

    assert "a person refused this call; it was not started. They said: not that name" in said(server.requests[1])
    assert "calls wait for you: /continue asks again" in first
    assert (workspace / "made").exists()
    assert any(line.startswith("succeeded") for line in second)


def test_always_asks_no_more(workspace):
    with ChatServer([MAKE, MAKE, text_turn("Done.")]) as server:
        shown = chat(workspace, server, "Make it.", "a")

    assert shown.count("bash wants to run:") == 1


def test_another_model_permission_and_session(workspace):
    with ChatServer(lambda body, number: text_turn(f"Answer {number}.")) as server:
        shown = chat(
            workspace,
            server,
            *("one", "/model other", "two", "/permission full", "three", "/permission", "/model", "/clear", "four"),
            *("/permission maybe", "/continue"),
        )

    assert [request["model"] for request in server.requests] == ["m", "other", "other", "other"]
    runs = records(workspace, RunStarted)
    assert [(run.model, run.permission) for run in runs] == [
        ("m", Permission.ASK),
        ("other", Permission.ASK),
        ("other", Permission.FULL),
    ]
    assert records(workspace, ChainChange) == []
    assert len(server.requests[2]["messages"]) == 6
    assert len(server.requests[3]["messages"]) == 2  # a session of its own
    for line in ("permission full; /permission ask, full or plan changes it", "it stays: interlock chat --session s"):
        assert any(text.startswith(line) for text in shown)
    assert "unknown permission 'maybe'; known: full, ask, plan" in "\n".join(shown)
    assert any(text.startswith("there is nothing to go on with") for text in shown)


def test_a_goal_is_set_for_a_new_session_and_shown_and_given_up(workspace):
    with ChatServer(lambda body, number: text_turn("VERDICT: PASS" if "verif" in str(body).lower() else "x")) as server:
        shown = chat(workspace, server, "/goal", "/goal calc adds", "/goal pause", "one", "/goal", "/goal other")

    assert "this session has no goal; /goal TEXT is for a new one" in shown
    assert "the session that begins with your next words is to reach it" in shown
    assert any(text.endswith(": calc adds") for text in shown)
    assert any(text.startswith("a goal is for a whole session: /clear begins a new one") for text in shown)


def test_the_older_turns_are_put_in_short_and_the_chat_goes_on(workspace):
    ledger = text_turn("\n".join(f"## {heading}\nkept" for heading in HEADINGS))

    def answer(body, number):
        asked = body["messages"][-1]["content"]
        return ledger if asked == INSTRUCTION else text_turn(f"{number} " + "a long answer " * 400)

    with ChatServer(answer) as server:
        shown = chat(workspace, server, "/compact", "a", "b", "c", "/compact", "d")

    assert shown[1:3] == ["> /compact", "there is nothing to compact"]
    assert any("messages are replaced by a ledger" in text for text in shown)
    (made,) = records(workspace, Compaction)
    assert (made.cause, made.how) == (Cause.ASKED, How.LEDGER)
    asked = [message["content"] for message in server.requests[-1]["messages"]]
    assert not any(text.startswith("0 a long answer") for text in asked)
    assert said(server.requests[-1]) == "d"


def test_words_that_come_too_late_for_a_run_begin_the_next_one(workspace):
    class Late(Lines):
        """Types while the answer is streamed, and after its end."""

        async def line(self):
            if len(self.lines) == 1:
                while not any(text.startswith("succeeded") for text in self.shown):  # noqa: ASYNC110
                    await asyncio.sleep(0)
                return self.lines.pop(0)
            return await super().line()

    terminal = Late("one", "two")
    with ChatServer(lambda body, number: text_turn(f"Answer {number}.")) as server:
        flags = {"workspace": str(workspace), "model": "m", "base-url": server.url}
        chosen = settings(flags, {"HOME": str(workspace)})

        async def go():
            from fsm.cli.assemble import new_run

            return await Room(chosen, new_run(chosen), "s", terminal).open(None)

        asyncio.run(asyncio.wait_for(go(), 60))

    assert [said(request) for request in server.requests] == ["one", "two"]
    assert [record.text for record in records(workspace, UserInput)] == ["one", "two"]
    assert records(workspace, Interruption) == []


def test_a_server_that_refuses_is_told_and_the_chat_goes_on(workspace):
    from support.chat_server import error

    turns = [error(401, "who are you?"), text_turn("Hello.")]
    with ChatServer(lambda body, number: turns[number]) as server:
        shown = chat(workspace, server, "one", "two")

    assert any("who are you?" in text for text in shown)
    assert "Hello." in shown


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", ApprovalAnswer(granted=True)),
        ("Yes.", ApprovalAnswer(granted=True)),
        ("always", ApprovalAnswer(granted=True, remember=True)),
        ("n", ApprovalAnswer(granted=False)),
        ("no, not like this", ApprovalAnswer(granted=False, reason="not like this")),
        ("later", Answer.LATER),
        ("y but only once", Answer.UNCLEAR),
        ("yep", Answer.UNCLEAR),
        ("always!", Answer.UNCLEAR),
    ],
)
def test_only_a_plain_yes_is_one(typed, answer):
    assert answer_in(typed) == answer


def test_a_plan_is_approved_by_a_letter_and_all_else_is_a_comment():
    assert review_in("A") == Review(approved=True, permission=Permission.ASK)
    assert review_in(" full ") == Review(approved=True, permission=Permission.FULL)
    assert review_in("a little less") == Review(approved=False, comments="a little less")


def test_lines_are_parted_between_words_and_what_is_void_is_said():
    shown = []
    view = View(lambda text, style: shown.append(text), lambda: None, lambda: 30)
    for event in (
        events.RunStart(1, "s", 1),
        events.TurnStart(1),
        events.Delta("a word and an"),
        events.Delta("other one that does not fit\nnew"),
    ):
        view(event)
    assert shown == ["a word and another one that", "does not fit"]
    assert view.live() == [("", "new\n")]

    view(events.Discarded(2, "it broke\x1b off"))
    view(events.ToolStart(3, "call_1_0", "bash", '{"command":"ls\\u001b[2J"}'))
    assert view.live() == [("dim", "bash ls\\x1b[2J\n")]
    view(events.ToolEnd(4, "call_1_0", Outcome.ERROR, "out", {"exit_status": 2}, 0.5))
    view(events.RunEnd(5, Result(RunStatus.SUCCEEDED, "finished", "s", "told before", turns=1)))
    assert shown[2:] == [
        "new",
        "what was shown of this answer is void: it broke\\x1b off",
        "  ✗ bash ls\\x1b[2J  (0.50 s, exit status 2)",
        "told before",
        "succeeded: 1 turns, 0 calls, 0 tokens",
    ]
    assert view.live() == []
