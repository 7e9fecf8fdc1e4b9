"""Neutral messages to the body of a stateless OpenAI Responses request."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from states.messages import AssistantMessage, Block, Call, Foreign, Message, Reasoning, Text, ToolMessage
from states.ports import Request, ToolSpec
from states.records import JSON

from .call_ids import RESPONSES, CallIds, tool_name
from .encoder import NO_OUTPUT, NO_TEXT, NUDGE, Encoder, readable
from .fold import Chunk
from .json_bytes import dump, object_in
from .pictures import data_url, sendable, words
from .responses_fold import DIALECT

OURS_TO_RUN: Final = frozenset(
    {"apply_patch_call", "shell_call", "local_shell_call", "computer_call", "custom_tool_call", "mcp_approval_request"}
)
"""Items that the caller would have to answer. We offer none of these tools, and an open one bricks a conversation."""


class ResponsesEncoder(Encoder):
    """`options` are top-level members of the body; `origin` marks the items that go back as they came."""

    def __init__(self, options: Mapping[str, JSON], origin: str = DIALECT) -> None:
        self._options = options
        self._origin = origin
        super().__init__()

    def restart(self) -> None:
        self._items: list[bytes] = []
        self._ids = CallIds(RESPONSES)

    def head(self, system: str, tools: Sequence[ToolSpec]) -> bytes:
        members: dict[str, Any] = dict(self._options)
        if tools:
            members["tools"] = [_tool(tool) for tool in tools]
        if system:
            members["instructions"] = system
        return dump(members)[:-1] + b',"input":['

    def take(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            self._items += self._answer(message)
        elif isinstance(message, ToolMessage):
            self._items.append(dump(self._result(message)))
        else:
            self._items.append(_said("user", message.text if message.text.strip() else NO_TEXT))

    def close(self, request: Request) -> bytes:
        items = self._items
        if self.ends_in_answer or not items:
            items = [*items, _said("user", NUDGE)]
        choice = b""
        if request.require_tool is not None:
            choice = b',"tool_choice":' + dump({"type": "function", "name": request.require_tool})
        elif request.tools:
            choice = b',"tool_choice":"auto"'
        return self.joined(items, b"]" + choice + b"}")

    def _answer(self, message: AssistantMessage) -> list[bytes]:
        items: list[tuple[str, bytes]] = []
        for block in message.blocks:
            self._add(items, block)
        while items and items[-1][0] == "reasoning":
            items.pop()  # OpenAI refuses reasoning that nothing follows
        return [body for _, body in items] or [_said("assistant", NO_TEXT)]

    def _add(self, items: list[tuple[str, bytes]], block: Block) -> None:
        match block:
            case Text() if block.text.strip():
                items.append(("words", _said("assistant", block.text)))
            case Call():
                items.append(("function_call", dump(self._call(block))))
            case Reasoning() | Foreign():
                whole = object_in(block.opaque) if block.opaque and block.origin == self._origin else None
                if whole is None or block.opaque is None or not _returnable(whole):
                    return
                kind = str(whole.get("type"))
                while kind == "message" and items and items[-1][0] == "words":
                    items.pop()  # the same words, now with what belongs to them
                items.append((kind, block.opaque.encode()))

    def _call(self, call: Call) -> Chunk:
        more = object_in(call.opaque) if call.opaque and call.origin == self._origin else None
        arguments = readable(call.arguments)
        item: Chunk = {"type": "function_call", "call_id": self._ids(call.id), "name": tool_name(call.name)}
        return {**(more or {}), **item, "arguments": arguments}

    def _result(self, message: ToolMessage) -> Chunk:
        text = words(message, NO_OUTPUT)
        output: JSON = text
        if pictures := sendable(message):
            output = [{"type": "input_text", "text": text}]
            output += [{"type": "input_image", "image_url": data_url(image)} for image in pictures]
        return {"type": "function_call_output", "call_id": self._ids(message.call_id), "output": output}


def _returnable(item: Chunk) -> bool:
    """Reasoning that its provider did not keep for us cannot be found again; nor can we answer foreign tools."""
    if item.get("type") == "reasoning":
        return bool(item.get("encrypted_content") or item.get("content"))
    ours = item.get("type") in OURS_TO_RUN or item.get("execution") == "client"
    return not ours


def _said(role: str, text: str) -> bytes:
    return dump({"role": role, "content": text})


def _tool(tool: ToolSpec) -> JSON:
    function: dict[str, JSON] = {"type": "function", "name": tool.name, "description": tool.description}
    return function | {"parameters": dict(tool.parameters), "strict": False}
