"""What docs/guide.md shows is done: its commands, in its order, against a server that plays the model."""

import re
import shlex
from pathlib import Path

import pytest
from support.chat_server import ChatServer, calls_turn, text_turn

from fsm.cli import call

PAGE = Path(__file__).parents[2] / "docs" / "guide.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
STATUS = re.compile(r"# exit status (\d+)")
BROKEN = "def add(a, b):\n    return a - b\n"
EDIT = ("edit_file", {"path": "calc.py", "old_string": "a - b", "new_string": "a + b"})


def blocks(language):
    return [found[2] for found in FENCE.finditer(PAGE.read_text()) if found[1] == language]


def commands():
    """Each command with the exit status that the page gives it; chat is tried in a terminal elsewhere."""
    for block in blocks("sh"):
        for line in block.splitlines():
            said = STATUS.search(line)
            words = shlex.split(line, comments=True)
            if words[:2] != ["interlock", "chat"]:
                yield words, int(said[1]) if said else 0


def model(body, number):
    """Answers as the page's story wants it, by what was said last and how many answers came after it."""
    told = [message for message in body["messages"] if message["role"] == "user"][-1]["content"]
    turn = sum(message["role"] == "tool" for message in body["messages"])
    if body["messages"][0]["content"].startswith("You find things."):
        return text_turn("calc.py:1")
    if told.endswith("Have the scout find where add is."):
        return (
            text_turn("calc.py, line 1") if turn else calls_turn([("task", {"agent": "scout", "prompt": "find add"})])
        )
    if "Make add add." in told and "submit_plan" in {tool["function"]["name"] for tool in body["tools"]}:
        return calls_turn([("submit_plan", {"plan": "1. edit calc.py"})])
    if "Name the test first." in told:
        return calls_turn([("submit_plan", {"plan": "1. write a test 2. edit calc.py"})])
    if "Make add add." in told:
        steps = [
            calls_turn([("bash", {"command": "sed -i s/-/+/ calc.py"})]),
            calls_turn([EDIT]),
            text_turn("It adds."),
        ]
        return steps[turn]
    if "The plan is approved" in told:
        return text_turn("It adds now.") if turn > 2 else calls_turn([EDIT])
    return text_turn(f"Answer {number}.")


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """Everything that the commands printed, by command, and what is left."""
    root = tmp_path_factory.mktemp("guide") / "work"
    (root / ".interlock" / "agents").mkdir(parents=True)
    (root / "calc.py").write_text(BROKEN)
    (root / "AGENTS.md").write_text("Use tabs.")
    (root / ".interlock" / "agents" / "scout.md").write_text(blocks("markdown")[0])
    printed = []
    with ChatServer(model) as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("HOME", str(root.parent))
        patch.delenv("XDG_CONFIG_HOME", raising=False)
        (root / "interlock.toml").write_text(f'model = "m"\nbase-url = "{server.url}"\n')
        for words, status in commands():
            before = len(server.requests)
            found = call(words[1:])
            printed.append((words, status, found, len(server.requests) - before))
            if words[1:3] == ["undo", "fix"]:
                assert (root / "calc.py").read_text() == BROKEN
    return root, server, printed


def test_every_command_of_the_guide_does_what_it_says(story):
    _, _, printed = story

    assert len(printed) > 25
    assert [(words, found) for words, _, found, _ in printed] == [(words, status) for words, status, _, _ in printed]


def test_the_jobs_are_done(story):
    root, server, printed = story
    asked = {" ".join(words[1:3]): requests for words, _, _, requests in printed}

    assert "a + b" in (root / "calc.py").read_text()  # the plan was carried out, after the fix had been undone
    assert (root / "calc.session").is_file()
    assert [asked[name] for name in ("resume calc", "resume other", "sessions", "audit calc")] == [1, 1, 0, 0]
    systems = [request["messages"][0]["content"] for request in server.requests]
    assert sum("Use tabs." in system for system in systems) == 1
    names = [[tool["function"]["name"] for tool in request["tools"]] for request in server.requests]
    assert ["read_file", "tool_search"] in names


def test_its_python_runs():
    for code in blocks("python"):
        exec(compile(code, PAGE.name, "exec"), {"__name__": "guide"})  # our own page
