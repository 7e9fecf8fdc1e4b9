"""A real small model behind llama.cpp's own server, in all three protocols. Opt-in: `pytest -m live`.

Start a server (llama.cpp with a tool-calling template; the wheel `xllamacpp` holds one) and say where it is:

    INTERLOCK_LIVE_URL=http://127.0.0.1:18115 INTERLOCK_LIVE_MODEL=qwen15 pytest -m live tests/providers

What is asserted is the wire and the loop, not the model's wording.
"""

import json
import os

import pytest

from fsm.providers import Anthropic, OpenAIChat, OpenAIResponses
from states.messages import AssistantMessage, ToolMessage, UserMessage, calls_of, text_of
from states.ports import Reply, Request, TextDelta, ToolSpec

URL = os.environ.get("INTERLOCK_LIVE_URL", "")
MODEL = os.environ.get("INTERLOCK_LIVE_MODEL", "qwen15")

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not URL, reason="INTERLOCK_LIVE_URL names no server with a real model"),
]

PROVIDERS = {
    "chat": lambda: OpenAIChat(MODEL, URL + "/v1", "", extra_body={"temperature": 0}),
    "messages": lambda: Anthropic(MODEL, URL, "k", max_tokens=256, extra_body={"temperature": 0}),
    "responses": lambda: OpenAIResponses(MODEL, URL + "/v1", "", extra_body={"temperature": 0}),
}
READ = ToolSpec(
    "read_file",
    "Read a text file and return its content",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
SYSTEM = "You are a helpful assistant. Use the tools when they are needed."
QUESTION = "Call the tool read_file with path notes.txt, then answer: at what time is the meeting?"


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_dialogue_with_a_tool(ask, kind):
    asked = Request(SYSTEM, [UserMessage(QUESTION)], [READ], session="live")
    first = ask(PROVIDERS[kind](), asked)[-1]
    assert isinstance(first, Reply)
    (call,) = calls_of(first.blocks)
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "notes.txt"})
    assert first.usage.input > 0
    assert first.usage.output > 0
    result = ToolMessage(call.id, "read_file", "The meeting is at 15:45 in room 2.")
    turn = AssistantMessage(first.blocks)
    second = ask(PROVIDERS[kind](), Request(SYSTEM, [UserMessage(QUESTION), turn, result], [READ], session="live"))
    assert "15:45" in text_of(second[-1].blocks)
    assert sum(isinstance(item, TextDelta) for item in second) > 1, "it was streamed"


def test_a_run_of_the_whole_loop(tmp_path):
    from fsm import Loop, tool

    asked = []

    @tool(read_only=True)
    async def read_file(path: str) -> str:
        """Read a text file and return its content."""
        asked.append(path)
        return "The meeting is at 15:45 in room 2."

    loop = Loop(provider=PROVIDERS["chat"](), tools=[read_file], journal=str(tmp_path / "live.db"), system=SYSTEM)
    result = loop.run_sync(QUESTION)
    assert asked == ["notes.txt"]
    assert result.status == "succeeded"
    assert "15:45" in result.text


def test_an_overflow_is_told(trouble):
    from states.records import Trouble

    long = Request("", [UserMessage("word " * 40_000)])
    assert trouble(PROVIDERS["chat"](), long).trouble is Trouble.OVERFLOW
