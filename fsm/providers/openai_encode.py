"""Neutral messages to the body of a chat completions request, each message encoded once."""

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Final

import orjson

from states.messages import AssistantMessage, Call, Message, Reasoning, ToolMessage, calls_of, text_of
from states.ports import Request, ToolSpec
from states.records import JSON
from states.text import safe_json

from .accumulate import ORIGIN

NO_OUTPUT: Final = "(no output)"
"""Stands for an empty tool result: several servers reject an empty one."""
NO_TEXT: Final = "(no text)"
"""Stands for a turn without text and calls: a null or empty one makes OpenAI reject the whole conversation."""
UNREADABLE: Final = "unreadable_arguments"
"""Key under which arguments that are no JSON object are shown to the model as what they were."""


class ConversationEncoder:
    """The bodies of one conversation's requests. A turn costs its new messages and one join.

    `options` are top-level members of the body (model and the like); `return_reasoning` sends reasoning that came
    from this dialect back with the turn that it belongs to.
    """

    def __init__(self, options: Mapping[str, JSON], *, return_reasoning: bool = False) -> None:
        self._options = options
        self._return_reasoning = return_reasoning
        self._known: list[Message] = []
        self._encoded: list[bytes] = []
        self._system: str | None = None
        self._tools: tuple[ToolSpec, ...] | None = None
        self._head = b""

    def body(self, request: Request) -> bytes:
        """JSON bytes, the same as a fresh encoder would give."""
        self._renew_head(request.system, request.tools)
        self._follow(request.messages)
        messages = b",".join(self._encoded)
        if request.system and messages:
            messages = b"," + messages
        choice = b"" if request.require_tool is None else b',"tool_choice":' + _dump(_forced(request.require_tool))
        if request.tools and not choice:
            choice = b',"tool_choice":"auto"'
        return b"".join((self._head, messages, b"]", choice, b"}"))

    def _follow(self, messages: Sequence[Message]) -> None:
        """Encode what is new. Members are compared by identity: after a compaction, from the first that differs."""
        same = len(self._known)
        if len(messages) < same or not all(map(is_, self._known, messages)):
            pairs = enumerate(zip(self._known, messages, strict=False))
            same = next((place for place, (old, new) in pairs if old is not new), min(same, len(messages)))
            del self._known[same:], self._encoded[same:]
        for message in messages[same:]:
            self._encoded.append(_dump(self._message(message)))
            self._known.append(message)

    def _renew_head(self, system: str, tools: Sequence[ToolSpec]) -> None:
        """Everything before the first message: options, tools, system prompt."""
        known = self._tools
        if known is not None and system == self._system and len(known) == len(tools) and all(map(is_, known, tools)):
            return
        self._system, self._tools = system, tuple(tools)
        members = dict(self._options)
        if tools:
            members["tools"] = [_tool(tool) for tool in tools]
        first = _dump({"role": "system", "content": system}) if system else b""
        self._head = _dump(members)[:-1] + b',"messages":[' + first

    def _message(self, message: Message) -> JSON:
        if isinstance(message, AssistantMessage):
            return self._assistant(message)
        if isinstance(message, ToolMessage):
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text or NO_OUTPUT}
        return {"role": "user", "content": message.text}

    def _assistant(self, message: AssistantMessage) -> JSON:
        calls = calls_of(message.blocks)
        text = text_of(message.blocks)
        encoded: dict[str, JSON] = {"role": "assistant", "content": text or (None if calls else NO_TEXT)}
        if self._return_reasoning:
            reasoning = [b.text for b in message.blocks if isinstance(b, Reasoning) and b.origin == ORIGIN]
            if reasoning:
                encoded["reasoning_content"] = "".join(reasoning)
        if calls:
            encoded["tool_calls"] = [_call(call) for call in calls]
        return encoded


def _call(call: Call) -> JSON:
    function: JSON = {"name": call.name, "arguments": _readable(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _readable(arguments: str) -> str:
    """Arguments that every server's template can parse: llama.cpp answers 500 for ever to one that cannot be."""
    if not arguments.strip():
        return "{}"
    try:
        readable = isinstance(orjson.loads(arguments), dict)
    except ValueError:
        readable = False
    return arguments if readable else _dump({UNREADABLE: arguments}).decode()


def _tool(tool: ToolSpec) -> JSON:
    function: dict[str, JSON] = {"name": tool.name, "description": tool.description}
    function["parameters"] = dict(tool.parameters)
    return {"type": "function", "function": function}


def _forced(name: str) -> JSON:
    return {"type": "function", "function": {"name": name}}


def _dump(value: JSON | Mapping[str, JSON]) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # lone surrogates, numbers beyond 64 bits, read-only mappings
        return orjson.dumps(safe_json(value))
