"""Neutral messages to the body of an Anthropic Messages request."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from states.messages import AssistantMessage, Foreign, Message, ToolMessage
from states.ports import Request, ToolSpec
from states.records import JSON

from .anthropic_answer import THINKING, parts_of
from .anthropic_fold import DIALECT
from .call_ids import ANTHROPIC, CallIds
from .encoder import NO_OUTPUT, NO_TEXT, NUDGE, Encoder
from .json_bytes import dump
from .pictures import sendable, words

CACHED: Final[Mapping[str, JSON]] = {"cache_control": {"type": "ephemeral"}}
"""Asks Anthropic to cache everything up to here (for five minutes); it changes nothing else."""
MARKER: Final = b"," + dump(CACHED)[1:-1]
MARKED: Final = 2
"""User messages that end in a marker: with the tools and the system prompt, Anthropic's limit of four."""


class MessagesEncoder(Encoder):
    """`options` are top-level members of the body; `origin` marks the blocks that go back as they came.

    Consecutive messages of one role are one message on the wire. `thinking` is the member of that name: it is left out
    where the turn under way began without thinking, since Anthropic refuses to begin in the middle. `cache` puts
    markers on the stable prefix.
    """

    def __init__(
        self,
        options: Mapping[str, JSON],
        origin: str = DIALECT,
        *,
        thinking: Mapping[str, JSON] | None = None,
        cache: bool = True,
    ) -> None:
        self._options = options
        self._origin = origin
        self._thinking = thinking
        self._cache = cache
        super().__init__()

    def restart(self) -> None:
        self._closed: list[bytes] = []
        self._marks: list[int] = []
        """Places of the user's messages in `_closed`."""
        self._results: list[bytes] = []
        self._words: list[bytes] = []
        self._turn: list[AssistantMessage] = []
        self._unthought = False
        """The last answer has calls and began without thinking."""
        self._ids = CallIds(ANTHROPIC)

    def head(self, system: str, tools: Sequence[ToolSpec]) -> bytes:
        members: dict[str, Any] = dict(self._options)
        marker = CACHED if self._cache else {}
        if tools:
            members["tools"] = [_tool(tool) for tool in tools]
            members["tools"][-1] |= marker
        if system.strip():
            members["system"] = [{"type": "text", "text": system, **marker}]
        return dump(members)[:-1] + b',"messages":['

    def take(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            self._close_user()
            self._turn.append(message)
            return
        self._close_turn()
        if isinstance(message, ToolMessage):
            self._results.append(dump(self._result(message)))
        else:
            self._words.append(_said(message.text))

    def close(self, request: Request) -> bytes:
        messages, marks, unthought = list(self._closed), list(self._marks), self._unthought
        if self._turn:
            own = [block for block in self._turn[-1].blocks if isinstance(block, Foreign)]
            paused = any(block.origin == self._origin for block in own)
            self._add_turn(messages, marks, paused=paused)
            unthought = False
            if not paused:
                _add_user(messages, marks, [_said(NUDGE)])
        elif self._results or self._words or not messages:
            _add_user(messages, marks, [*self._results, *self._words] or [_said(NUDGE)])
        for place in marks[-MARKED:] if self._cache else ():
            messages[place] = messages[place].removesuffix(b"}]}") + MARKER + b"}]}"
        return self.joined(messages, b"]" + self._tail(request, thinks=not unthought) + b"}")

    def _tail(self, request: Request, *, thinks: bool) -> bytes:
        """What may change from one request to the next. Thinking and a forced tool exclude each other."""
        tail: dict[str, JSON] = {}
        thinking = self._thinking if thinks else None
        if thinking:
            tail["thinking"] = dict(thinking)
        if request.require_tool is not None and not thinking:
            tail["tool_choice"] = {"type": "tool", "name": request.require_tool}
        elif request.tools:
            tail["tool_choice"] = {"type": "auto"}
        return b"," + dump(tail)[1:-1] if tail else b""

    def _close_user(self) -> None:
        if self._results or self._words:
            _add_user(self._closed, self._marks, [*self._results, *self._words])
            self._results, self._words = [], []

    def _close_turn(self) -> None:
        if self._turn:
            self._unthought = self._add_turn(self._closed, self._marks)
            self._turn = []

    def _add_turn(self, messages: list[bytes], marks: list[int], *, paused: bool = False) -> bool:
        """Add the model's message; whether it has calls and began without thinking."""
        if not messages:
            _add_user(messages, marks, [_said(NUDGE)])  # a conversation begins with the user
        parts = parts_of(self._turn, self._origin, self._ids, paused=paused)
        messages.append(_message(b"assistant", (part.body for part in parts)))
        return parts[0].kind not in THINKING and any(part.kind == "tool_use" for part in parts)

    def _result(self, message: ToolMessage) -> Mapping[str, JSON]:
        text = words(message, NO_OUTPUT)
        content: JSON = text
        if pictures := sendable(message):
            content = [{"type": "text", "text": text}]
            for image in pictures:
                source: JSON = {"type": "base64", "media_type": image.media_type, "data": image.data}
                content.append({"type": "image", "source": source})
        block: dict[str, JSON] = {"type": "tool_result", "tool_use_id": self._ids(message.call_id), "content": content}
        return block | {"is_error": True} if message.failed else block


def _add_user(messages: list[bytes], marks: list[int], blocks: Iterable[bytes]) -> None:
    marks.append(len(messages))
    messages.append(_message(b"user", blocks))


def _message(role: bytes, blocks: Iterable[bytes]) -> bytes:
    return b'{"role":"' + role + b'","content":[' + b",".join(blocks) + b"]}"


def _said(text: str) -> bytes:
    return dump({"type": "text", "text": text if text.strip() else NO_TEXT})


def _tool(tool: ToolSpec) -> dict[str, JSON]:
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
