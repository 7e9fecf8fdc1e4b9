"""Recorded streams as test data: the cases of a folder, what was expected of each, and what we give in its terms."""

import json
import os
import random
from pathlib import Path

import attrs

from fsm.providers import Anthropic, OpenAIChat, OpenAIResponses
from states.messages import Call, Finish, Foreign, Reasoning, text_of

HERE = Path(__file__).parent.parent / "providers"
FOLDER = Path(os.environ.get("INTERLOCK_STREAMS") or HERE / "streams")
PROVIDERS = {"openai-chat": OpenAIChat, "anthropic-messages": Anthropic, "openai-responses": OpenAIResponses}


@attrs.frozen
class Case:
    name: str
    protocol: str
    status: int
    content_type: str
    body: bytes
    expected: dict

    def cut(self, way):
        """The body in pieces."""
        if way == "whole":
            return [self.body]
        if way == "random":
            rng, pieces, at = random.Random(self.name), [], 0
            while at < len(self.body):
                size = rng.choice((1, 2, 3, 5, 17, 100, 1000, 4096))
                pieces.append(self.body[at : at + size])
                at += size
            return pieces
        return [self.body[at : at + way] for at in range(0, len(self.body), way)]


def load(folder=FOLDER):
    found = []
    for path in sorted(folder.iterdir()):
        if (path / "meta.json").is_file():
            meta = json.loads((path / "meta.json").read_text())
            expected = json.loads((path / "expected.json").read_text())
            status, kind = meta.get("http_status") or 200, meta.get("content_type") or "text/event-stream"
            found.append(Case(path.name, meta["protocol"], status, kind, (path / "stream.sse").read_bytes(), expected))
    return found


CASES = load()

STOPS = {
    "stop": Finish.STOP,
    "tool_calls": Finish.CALLS,
    "length": Finish.LENGTH,
    "content_filter": Finish.FILTERED,
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.CALLS,
    "max_tokens": Finish.LENGTH,
    "refusal": Finish.FILTERED,
    "pause_turn": Finish.PAUSED,
    "completed": Finish.STOP,
    "max_output_tokens": Finish.LENGTH,
}


def wanted(case):
    """The expected message, in the terms of `given`."""
    expected = case.expected
    usage = expected["usage"] or {}
    calls = [
        {"id": call["id"], "name": call["name"], "arguments": _arguments(call)}
        for call in expected["tool_calls"]
        if "name" in call
    ]
    detail = expected.get("finish_reason") or expected.get("stop_reason") or ""
    if case.protocol == "openai-responses":
        detail = (expected.get("incomplete_details") or {}).get("reason") or expected["status"]
    finish = STOPS.get(detail, Finish.UNKNOWN)
    if calls and finish in (Finish.STOP, Finish.UNKNOWN):
        finish = Finish.CALLS
    cache = usage.get("cache_read", 0) or 0
    found = {
        "text": expected["text"] or "",
        "reasoning": expected["reasoning"] or "",
        "calls": calls,
        "finish": finish.value,
        "detail": detail,
        "input": (usage.get("input") or 0) + cache + (usage.get("cache_creation", 0) or 0),
        "output": usage.get("output") or 0,
        "cached": usage.get("cached_input") or cache,
    }
    if "reasoning_output" in usage:
        found["thought"] = usage["reasoning_output"] or 0
    if case.protocol == "anthropic-messages":
        found["blocks"] = [_plain(block) for block in expected["blocks"]]
    if case.protocol == "openai-responses":
        found["items"] = [item["type"] for item in expected["items"]]
    return found


def given(case, reply):
    """Our reply, in the terms of `wanted`."""
    blocks = reply.blocks
    calls = [block for block in blocks if isinstance(block, Call)]
    found = {
        "text": text_of(blocks),
        "reasoning": "".join(block.text for block in blocks if isinstance(block, Reasoning)),
        "calls": [{"id": c.provider_id, "name": c.name, "arguments": _loaded(c.arguments)} for c in calls],
        "finish": reply.finish.value,
        "detail": reply.finish_detail,
        "input": reply.usage.input,
        "output": reply.usage.output,
        "cached": reply.usage.cached,
        "thought": reply.usage.reasoning,
        "blocks": [],
        "items": [],
    }
    if case.protocol != "openai-chat":
        for block in blocks:
            _as_theirs(block, found)
    return {name: found[name] for name in wanted(case)}


def _as_theirs(block, found):
    """A block as the provider's own client shows it, and the type of the item that it is."""
    if isinstance(block, Call):
        more = json.loads(block.opaque) if block.opaque else {}
        own = {"type": "tool_use", "id": block.provider_id, "name": block.name, "input": _loaded(block.arguments)}
        found["blocks"].append(_plain(own | more))
        found["items"].append("function_call")
    elif isinstance(block, Reasoning | Foreign):
        whole = json.loads(block.opaque)
        if whole.get("type") in ("text", "message") and found["blocks"]:
            found["blocks"].pop()
            if whole["type"] == "message":
                found["items"].pop()
        found["blocks"].append(_plain(whole))
        found["items"].append(whole.get("type"))
    else:
        found["blocks"].append({"type": "text", "text": block.text})
        found["items"].append("message")


def _arguments(call):
    return _loaded(call["arguments"]) if call["arguments"].strip() else call.get("input", "")


def _loaded(arguments):
    """Arguments as a value where they can be read, so that an empty object may be spelt in any way."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _plain(value):
    """Without nulls and empty lists (the SDK adds them), and with long strings as the recordings shorten them."""
    from hashlib import sha256

    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None and item != []}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str) and len(value) > 3000:
        return {"$sha256": sha256(value.encode()).hexdigest(), "$len": len(value)}
    return value
