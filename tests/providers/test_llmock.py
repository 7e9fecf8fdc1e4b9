"""A third-party server of these protocols, `llmock` from PyPI: it injects faults and judges how the client took them.

It is found beside this Python, on the PATH, or where the variable LLMOCK says. Its own pytest plugin is kept out (`-p
no:llmock` in pyproject.toml).
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from fsm import Loop
from fsm.providers import Anthropic, OpenAIChat, OpenAIResponses
from states.messages import AssistantMessage, Call, Finish, ToolMessage, UserMessage, calls_of, text_of
from states.ports import Reply, Request, RetryNotice, ToolSpec

BESIDE = Path(sys.executable).with_name("llmock")
PLAIN = httpx.Client(verify=False, trust_env=False)
LLMOCK = os.environ.get("LLMOCK") or (str(BESIDE) if BESIDE.is_file() else shutil.which("llmock"))

pytestmark = pytest.mark.skipif(not LLMOCK, reason="llmock is not installed (pip install llmock==0.2.2)")

TOOL = ToolSpec(
    "lookup",
    "Look a key up.",
    {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
)
KINDS = {
    "openai": lambda url, **options: OpenAIChat("gpt-4.1", f"{url}/v1", "k", **options),
    "anthropic": lambda url, **options: Anthropic("claude-sonnet-4-5", f"{url}/anthropic", "k", **options),
    "responses": lambda url, **options: OpenAIResponses("gpt-5", f"{url}/v1", "k", **options),
}


@pytest.fixture(scope="module")
def url():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [LLMOCK, "serve", "-p", str(port), "--log-level", "warning"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            for _ in range(200):
                try:
                    PLAIN.get(f"{address}/_llmock/requests")
                    break
                except httpx.TransportError:
                    assert process.poll() is None, "llmock ended"
                    time.sleep(0.05)
            yield address
        finally:
            process.terminate()


@pytest.fixture
def behave(url):
    """Tell the server what to do next, and where it is; at the end it says how the client took it."""

    def run(*behaviors):
        post("scenario", {"behaviors": list(behaviors)})
        return url

    def post(path, body):
        PLAIN.post(f"{url}/_llmock/{path}", json=body).raise_for_status()

    post("reset", {})
    yield run
    verdict = PLAIN.get(f"{url}/_llmock/verdict?format=text").text
    assert "FAIL" not in verdict, verdict
    post("reset", {})


@pytest.mark.parametrize("kind", KINDS)
def test_words(behave, ask, kind):
    url = behave({"type": "reply", "text": "good morning"})
    *shown, reply = ask(KINDS[kind](url))
    assert text_of(reply.blocks) == "good morning" == "".join(delta.text for delta in shown)
    assert (reply.finish, reply.usage.total > 0) == (Finish.STOP, True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dialogue_with_a_tool(behave, ask, kind):
    url = behave({"type": "reply", "tool_calls": [{"name": "lookup", "arguments": {"key": "é"}}], "times": 1})
    question = UserMessage("look é up")
    first = ask(KINDS[kind](url), Request("", [question], [TOOL]))[-1]
    (call,) = calls_of(first.blocks)
    assert (call.name, call.arguments.replace(" ", "")) in [("lookup", '{"key":"é"}'), ("lookup", '{"key":"\\u00e9"}')]
    turn = AssistantMessage((Call("call_1_0", call.name, call.arguments, call.provider_id),))
    second = ask(KINDS[kind](url), Request("", [question, turn, ToolMessage("call_1_0", "lookup", "42")], [TOOL]))[-1]
    assert isinstance(second, Reply)
    assert text_of(second.blocks)


@pytest.mark.parametrize(("kind", "status"), [("openai", 429), ("anthropic", 529)])
def test_a_failure_is_waited_out_as_long_as_the_server_asked(behave, ask, kind, status):
    url = behave({"type": "fail", "status": status, "times": 1, "retry_after": 1})
    notice, *_, reply = ask(KINDS[kind](url))
    assert isinstance(notice, RetryNotice)
    assert str(status) in notice.message
    assert notice.delay > 1
    assert text_of(reply.blocks)


@pytest.mark.parametrize(
    ("kind", "fault"), [("openai", "disconnect"), ("anthropic", "truncate"), ("responses", "malformed")]
)
def test_a_stream_that_breaks_is_discarded_and_asked_for_again(behave, tmp_path, kind, fault):
    url = behave({"type": "stream_fault", "kind": fault, "after_chunks": 6, "times": 1})
    result = Loop(provider=KINDS[kind](url), tools=[], journal=str(tmp_path / "runs.db")).run_sync("hi")
    assert result.status == "succeeded"
    asked = PLAIN.get(f"{url}/_llmock/verdict?format=text").text
    assert "2 attempt(s), 1 fault(s) injected" in asked
