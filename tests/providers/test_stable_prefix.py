"""What providers cache: each request of a conversation with tools begins with the one before, byte for byte."""

from itertools import pairwise

import attrs
import pytest
from support.chat_server import ChatServer

from fsm.providers import Anthropic, OpenAIChat, OpenAIResponses
from fsm.providers.anthropic_encode import MARKER
from states.messages import AssistantMessage, Call, ToolMessage, UserMessage, calls_of
from states.ports import Reply, Request, ToolSpec

TOOLS = [ToolSpec("add", "Adds.", {"type": "object"}), ToolSpec("version", "Tells.", {"type": "object"})]
TURNS = 6


@pytest.mark.parametrize(
    ("make", "case", "end"),
    [
        (OpenAIChat, "003-openai-tool-parallel", b"]"),
        (OpenAIChat, "039-deepseek-reasoning-tool", b"]"),
        (Anthropic, "202-anthropic-text-2-tools", b"]}]"),
        (Anthropic, "216-anthropic-tool-search", b"]}]"),
        (OpenAIResponses, "319-openai-resp-two-calls", b"]"),
        (OpenAIResponses, "329-openai-resp-reasoning-tool", b"]"),
    ],
)
def test_each_request_begins_with_the_one_before(recorded, ask, make, case, end):
    messages = [UserMessage("go")]
    with ChatServer(lambda *_: [recorded[case]], strict=False) as server:
        address = server.url.removesuffix("/v1") if make is Anthropic else server.url
        provider = make("m", address, "k")
        for turn in range(TURNS):
            items = ask(provider, Request("be brief", tuple(messages), TOOLS, session="s"))
            blocks, calls = answered(items[-1], turn)
            messages += [AssistantMessage(blocks), *(ToolMessage(call.id, call.name, "ok") for call in calls)]
        bodies = [body.replace(MARKER, b"") for body in server.bodies]
    for before, after in pairwise(bodies):
        prefix = before[: before.rindex(end, 0, before.rindex(b',"tool_choice"') + 1)]
        assert len(prefix) > len(before) - 60
        assert after.startswith(prefix)
        assert len(after) > len(before) + 100


def answered(reply, turn):
    """The blocks of a reply with ids of our own, and its calls."""
    assert isinstance(reply, Reply)
    blocks, order = [], 0
    for block in reply.blocks:
        if isinstance(block, Call):
            block, order = attrs.evolve(block, id=f"call_{turn}_{order}"), order + 1  # noqa: PLW2901  numbered
        blocks.append(block)
    return tuple(blocks), calls_of(tuple(blocks))
