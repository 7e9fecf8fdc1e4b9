"""Neutral messages to the body of a chat completions request."""

from collections.abc import Mapping, Sequence
from typing import Any

from states.messages import AssistantMessage, Call, Message, Reasoning, ToolMessage, calls_of, text_of
from states.ports import Request, ToolSpec
from states.records import JSON

from .call_ids import CallIds, tool_name
from .encoder import NO_OUTPUT, NO_TEXT, NUDGE, Encoder, raw_object, readable
from .json_bytes import Raw, dump
from .manners import Manners, ReasoningBack
from .openai_fold import DIALECT
from .pictures import data_url, sendable, words

Encoded = dict[str, Any]
"""JSON with Raw parts in it."""


class ChatEncoder(Encoder):
    """`options` are top-level members of the body; `origin` is the reasoning and the calls that go back as they came.

    A picture that a tool returned follows the results as the user's: tool messages of this protocol hold text alone.
    """

    def __init__(self, options: Mapping[str, JSON], manners: Manners = Manners(), origin: str = DIALECT) -> None:  # noqa: B008
        self._options = options
        self._manners = manners
        self._origin = origin
        super().__init__()

    def restart(self) -> None:
        self._encoded: list[bytes] = []
        self._pictures: list[str] = []
        """Pictures of results whose last one has not come yet."""
        self._ids = CallIds(self._manners.ids)

    def head(self, system: str, tools: Sequence[ToolSpec]) -> bytes:
        members: Encoded = dict(self._options)
        if tools:
            members["tools"] = [_tool(tool) for tool in tools]
        first = dump({"role": "system", "content": system}) if system else b""
        return dump(members)[:-1] + b',"messages":[' + first

    def take(self, message: Message) -> None:
        if isinstance(message, ToolMessage):
            self._pictures += map(data_url, sendable(message))
        elif self._pictures:
            self._encoded.append(_shown(self._pictures))
            self._pictures = []
        self._encoded.append(dump(self._message(message)))

    def close(self, request: Request) -> bytes:
        encoded = self._encoded
        if self._pictures:
            encoded = [*encoded, _shown(self._pictures)]
        if self.ends_in_answer:
            encoded = [*encoded, dump({"role": "user", "content": NUDGE})]
        start = b"," if request.system and encoded else b""
        choice = b"" if request.require_tool is None else b',"tool_choice":' + dump(_forced(request.require_tool))
        if request.tools and not choice:
            choice = b',"tool_choice":"auto"'
        return self.joined(encoded, b"]" + choice + b"}", start)

    def _message(self, message: Message) -> Encoded:
        if isinstance(message, AssistantMessage):
            return self._assistant(message)
        if isinstance(message, ToolMessage):
            content = words(message, NO_OUTPUT)
            return {"role": "tool", "tool_call_id": self._ids(message.call_id), "content": content}
        return {"role": "user", "content": message.text if message.text.strip() else NO_TEXT}

    def _assistant(self, message: AssistantMessage) -> Encoded:
        calls = calls_of(message.blocks)
        text = text_of(message.blocks)
        content = text if text.strip() else None if calls else NO_TEXT
        encoded: Encoded = {"role": "assistant", "content": content}
        self._reason(message, encoded, called=bool(calls))
        if calls:
            encoded["tool_calls"] = [self._call(call, first=place == 0) for place, call in enumerate(calls)]
        return encoded

    def _reason(self, message: AssistantMessage, encoded: Encoded, *, called: bool) -> None:
        own = [block for block in message.blocks if isinstance(block, Reasoning) and block.origin == self._origin]
        details = [block.opaque for block in own if block.opaque]
        if details:
            encoded["reasoning_details"] = Raw(details[-1])
        said = "".join(block.text for block in own)
        wanted = self._manners.reasoning
        if wanted is not ReasoningBack.FORBID and (said or (called and wanted is ReasoningBack.REQUIRE)):
            encoded["reasoning_content"] = said

    def _call(self, call: Call, *, first: bool) -> Encoded:
        function: JSON = {"name": tool_name(call.name), "arguments": readable(call.arguments)}
        encoded: Encoded = {"id": self._ids(call.id), "type": "function", "function": function}
        extra = raw_object(call.opaque, call.origin, self._origin)
        if extra is None and first and self._manners.foreign_call:
            extra = Raw(self._manners.foreign_call)
        if extra is not None:
            encoded["extra_content"] = extra
        return encoded


def _shown(pictures: Sequence[str]) -> bytes:
    parts: list[JSON] = [{"type": "text", "text": "What the tools returned as pictures:"}]
    parts += [{"type": "image_url", "image_url": {"url": url}} for url in pictures]
    return dump({"role": "user", "content": parts})


def _tool(tool: ToolSpec) -> JSON:
    function: dict[str, JSON] = {"name": tool.name, "description": tool.description}
    function["parameters"] = dict(tool.parameters)
    return {"type": "function", "function": function}


def _forced(name: str) -> JSON:
    return {"type": "function", "function": {"name": name}}
