"""The scripted server, which the tests of others stand on."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from support import chat_server
from support.chat_server import ChatServer, calls_turn, complaint, text_turn

USER = {"role": "user", "content": "hi"}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": name, "function": {"name": "f", "arguments": "{}"}} for name in ("a", "b")],
}


def result(name, content="x"):
    return {"role": "tool", "tool_call_id": name, "content": content}


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([USER], None),
        ([USER, CALLS, result("a"), result("b")], None),
        ([USER, CALLS, result("a"), result("b"), USER], None),
        ([USER, CALLS, result("b"), result("a")], "in order, once each"),
        ([USER, CALLS, result("a"), result("a")], "in order, once each"),
        ([USER, CALLS, result("a"), result("b"), result("b")], "in order, once each"),
        ([USER, CALLS, result("a")], "no answer to b"),
        ([USER, CALLS, result("a"), USER], "no answer to b"),
        ([USER, result("a")], "in order, once each"),
        ([USER, CALLS, result("a", ""), result("b")], "non-empty string"),
        ([USER, CALLS, result("a", {"x": 1}), result("b")], "non-empty string"),
        ([USER, CALLS | {"tool_calls": CALLS["tool_calls"][:1] * 2}], "duplicate or empty tool call id"),
        ([USER, {"role": "assistant", "content": None}], "must be a string where there are no tool_calls"),
        ([{"role": "user", "content": None}], "content must be a string"),
    ],
)
def test_it_refuses_what_is_not_paired_exactly_once_in_order(messages, words):
    found = complaint({"messages": messages})
    assert found is None if words is None else words in found
    with ChatServer(lambda *_: text_turn("hi")) as server:
        assert httpx.post(server.url, json={"messages": messages}).status_code == (400 if words else 200)


def test_as_a_process_it_picks_the_turn_by_the_answers_so_far(tmp_path):
    turns = [{"calls": [["f", {"x": 1}]], "text": "on it"}, {"text": "done", "pause": 0.001}]
    (tmp_path / "script.json").write_text(json.dumps(turns))
    command = [sys.executable, str(Path(chat_server.__file__)), "script.json", "--log", "log"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().strip()
            paired = [USER, CALLS, result("a"), result("b")]
            for _ in range(2):
                assert httpx.post(url, json={"messages": paired}).content == b"".join(text_turn("done"))
            assert httpx.post(url, json={"messages": [USER]}).content == b"".join(
                calls_turn([("f", {"x": 1})], "on it")
            )
            late = [*paired, {"role": "assistant", "content": "done"}, USER]
            assert "the script has 2 turns" in httpx.post(url, json={"messages": late}).text
        finally:
            process.kill()
    assert len((tmp_path / "log").read_text().splitlines()) == 4
