"""interlock doctor, against a server on loopback: what works, what does not, and how to mend it."""

import json
import sys

import pytest
from click.testing import CliRunner
from support.chat_server import HANG, ChatServer, Response, calls_turn, chunk, error, text_turn

from fsm.cli.doctor import doctor

BOTH = calls_turn([("lookup", {"key": "a"}), ("lookup", {"key": "b"})])


@pytest.fixture
def visit(monkeypatch):
    """The lines and the exit status of a visit."""

    def run(server, *options, provider="openai"):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret-key")
        url = server.url.removesuffix("/v1") if provider == "anthropic" else server.url
        result = CliRunner().invoke(
            doctor, ["--provider", provider, "--model", "m", "--base-url", url, *options], standalone_mode=False
        )
        assert result.exception is None
        assert "sk-very-secret-key" not in result.output
        return result.output.splitlines(), result.return_value

    return run


def marks(lines):
    return {line[2:17].strip(): line[0] for line in lines if not line.startswith(" ")}


def test_a_sound_server_passes(visit):
    with ChatServer([BOTH, text_turn("done")]) as server:
        lines, status = visit(server)
    assert status == 0
    assert marks(lines) == {
        "auth": "✓",
        "streaming": "✓",
        "tool calls": "✓",
        "parallel calls": "✓",
        "usage": "✓",
        "results": "✓",
        "reasoning echo": "–",
    }


def test_reasoning_that_goes_back_is_told(visit):
    with ChatServer([[chunk({"reasoning_content": "hm"}), *BOTH], text_turn("done")]) as server:
        lines, _ = visit(server)
    assert lines[-1] == "✓ reasoning echo  came as words, and the server takes it so"


def test_a_server_that_wants_its_reasoning_back_is_told_from_one_that_does_not(visit):
    refusal = error(400, "The `reasoning_content` in the thinking mode must be passed back to the API.")
    with ChatServer([[chunk({"reasoning_content": "hm"}), *BOTH], refusal]) as server:
        lines, status = visit(server)
    assert status == 1
    assert marks(lines)["results"] == "✗"
    assert lines[-1].endswith("→ set reasoning to require, allow or forbid for this server")


@pytest.mark.parametrize(
    ("answer", "fix"),
    [
        (error(401, "Incorrect API key: sk-very-secret-key"), "→ check the key"),
        (error(404, "no such model"), "→ check --model and --base-url"),
        (error(429, "no credit", code="insufficient_quota"), "→ the key's limit or credit is used up"),
    ],
)
def test_a_door_that_stays_shut(visit, answer, fix):
    with ChatServer(lambda *_: answer) as server:
        lines, status = visit(server)
    assert status == 1
    assert fix in lines[1]
    assert set(marks(lines[2:]).values()) == {"·"}


def test_a_server_that_is_not_there(visit, monkeypatch):
    monkeypatch.setattr(sys.modules["fsm.cli.doctor"], "PATIENCE", 0.0)
    with ChatServer([]) as server:
        pass
    lines, status = visit(server)
    assert status == 1
    assert "→ is the server running?" in lines[1]


@pytest.mark.parametrize(
    ("turn", "fix"),
    [
        (text_turn('{"name": "lookup", "arguments": {"key": "a"}}'), "→ the call came as text"),
        (text_turn("I cannot."), "→ use a model that is trained to call tools"),
        (calls_turn([("lookup", '{"key": ')]), "→ the model's calls cannot be used"),
    ],
)
def test_calls_that_do_not_come(visit, turn, fix):
    with ChatServer([turn, text_turn("done")]) as server:
        lines, status = visit(server)
    assert status == 1
    assert marks(lines)["tool calls"] == "✗"
    assert any(fix in line for line in lines)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "responses"])
def test_an_answer_without_end_is_not_waited_for(visit, monkeypatch, recorded, provider):
    monkeypatch.setattr("fsm.providers.checkup.Patient.__init__.__defaults__", (0.3,))
    case = {
        "openai": "001-openai-text",
        "anthropic": "201-anthropic-text",
        "responses": "303-openai-resp-reasoning-summary",
    }[provider]
    body = recorded[case]
    with ChatServer(lambda *_: [body[: len(body) // 2], HANG], strict=False) as server:
        lines, status = visit(server, provider=provider)
    assert status == 1
    assert (marks(lines)["auth"], marks(lines)["streaming"], marks(lines)["tool calls"]) == ("✓", "✓", "✗")
    assert "no end of the answer within 0.3 s" in lines[2]
    assert "--budget-seconds" in lines[3]


def test_a_call_without_end_is_told_from_a_server_that_is_not_there(visit, monkeypatch):
    monkeypatch.setattr("fsm.providers.checkup.Patient.__init__.__defaults__", (0.3,))
    call = {"index": 0, "id": "a", "function": {"name": "lookup", "arguments": '{"key": "aaaa'}}
    with ChatServer([[chunk({"tool_calls": [call]}), HANG]]) as server:
        lines, _ = visit(server)
    assert "no end of the answer within 0.3 s" in lines[2]
    with ChatServer([Response([HANG], raw=True)]) as server:
        lines, _ = visit(server)
    assert "no answer within 0.3 s" in lines[0]


def test_a_second_answer_without_end_is_told_too(visit, monkeypatch):
    monkeypatch.setattr("fsm.providers.checkup.Patient.__init__.__defaults__", (0.3,))
    with ChatServer([BOTH, [chunk({"content": "on and on"}), HANG]]) as server:
        lines, status = visit(server)
    assert (status, marks(lines)["results"], marks(lines)["reasoning echo"]) == (1, "✗", "·")


def test_what_is_poorer_but_works(visit):
    call = {"index": 0, "id": "a", "function": {"name": "lookup", "arguments": '{"key":"a"}'}}
    whole = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [call]}}]}
    plain = Response([json.dumps(whole).encode()], 200, {"content-type": "application/json"})
    with ChatServer([plain, text_turn("done")]) as server:
        lines, status = visit(server)
    found = marks(lines)
    assert status == 0
    assert (found["streaming"], found["parallel calls"], found["usage"]) == ("✗", "–", "✗")


def test_the_other_protocols(visit, recorded):
    for provider, case in (("anthropic", "202-anthropic-text-2-tools"), ("responses", "319-openai-resp-two-calls")):
        with ChatServer(lambda *_, case=case: [recorded[case]], strict=False) as server:
            lines, _ = visit(server, provider=provider)
        assert marks(lines)["auth"] == marks(lines)["parallel calls"] == marks(lines)["results"] == "✓"
