"""Neutral messages to the body of a request, each message encoded once."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from operator import is_
from typing import Final

from states.messages import AssistantMessage, Message
from states.ports import Request, ToolSpec

from .json_bytes import Raw, dump, object_in

NO_OUTPUT: Final = "(no output)"
"""Stands for an empty tool result: several servers reject an empty one."""
NO_TEXT: Final = "(no text)"
"""Stands for a message without words and calls: a null or empty one makes providers reject the whole conversation."""
NUDGE: Final = "Go on."
"""Said for the user where a conversation ends in the model's own words and its provider does not continue them."""
UNREADABLE: Final = "unreadable_arguments"
"""Key under which arguments that are no JSON object are shown to the model as what they were."""


class Encoder(ABC):
    """The bodies of one conversation's requests. A turn costs its new messages and one join.

    Each protocol says how a conversation begins (`restart`, `head`), goes on (`take`) and is closed (`close`).
    """

    def __init__(self) -> None:
        self._known: list[Message] = []
        self._system: str | None = None
        self._tools: tuple[ToolSpec, ...] = ()
        self._head = b""
        self.restart()

    def body(self, request: Request) -> bytes:
        """JSON bytes, the same as a fresh encoder would give."""
        self._renew_head(request.system, request.tools)
        self._follow(request.messages)
        return self.close(request)

    @abstractmethod
    def restart(self) -> None:
        """Forget every message."""

    @abstractmethod
    def head(self, system: str, tools: Sequence[ToolSpec]) -> bytes:
        """Everything before the first message: options, tools, system prompt."""

    @abstractmethod
    def take(self, message: Message) -> None:
        """Encode the next message."""

    @abstractmethod
    def close(self, request: Request) -> bytes:
        """The whole body: `joined` of the messages that were taken, and what follows them."""

    def joined(self, messages: Sequence[bytes], tail: bytes, start: bytes = b"") -> bytes:
        """The head, `start`, the messages with commas between them, the tail: megabytes, copied only once."""
        if not messages:
            return self._head + start + tail
        parts = list(messages)
        parts[0] = self._head + start + parts[0]
        parts[-1] += tail
        return b",".join(parts)

    @property
    def ends_in_answer(self) -> bool:
        return bool(self._known) and isinstance(self._known[-1], AssistantMessage)

    def _follow(self, messages: Sequence[Message]) -> None:
        """Encode what is new. Members are compared by identity; after a compaction all is encoded once more."""
        if len(messages) < len(self._known) or not all(map(is_, self._known, messages)):
            self._known.clear()
            self.restart()
        for message in messages[len(self._known) :]:
            self._known.append(message)
            self.take(message)

    def _renew_head(self, system: str, tools: Sequence[ToolSpec]) -> None:
        known = self._tools
        if self._head and system == self._system and len(known) == len(tools) and all(map(is_, known, tools)):
            return
        self._system, self._tools = system, tuple(tools)
        self._head = self.head(system, tools)


def readable(arguments: str) -> str:
    """Arguments as a JSON object that every server can parse: llama.cpp answers 500 for ever to anything else."""
    if not arguments.strip():
        return "{}"
    return arguments if object_in(arguments) is not None else dump({UNREADABLE: arguments}).decode()


def raw_object(opaque: str | None, origin: str, ours: str) -> Raw | None:
    """A provider's own JSON object, if this is the provider that can read it."""
    if opaque is None or origin != ours or object_in(opaque) is None:
        return None
    return Raw(opaque)
