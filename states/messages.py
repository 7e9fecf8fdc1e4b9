"""What a model says and hears, in no provider's dialect."""

from enum import StrEnum
from typing import Final

import attrs


class Finish(StrEnum):
    """Why the provider ended a turn."""

    STOP = "stop"
    CALLS = "calls"
    LENGTH = "length"
    FILTERED = "filtered"
    PAUSED = "paused"
    """The provider stopped on the way and goes on when it gets its own words back."""
    UNKNOWN = "unknown"


LARGEST: Final = 2**53
"""Largest count kept: beyond it, JSON readers lose digits. A server that says more is not believed."""


def _count(said: int) -> int:
    return min(max(said, 0), LARGEST)


@attrs.frozen
class Usage:
    """Tokens as the provider counted them. `input` includes `cached` and `written`; `output` includes `reasoning`.

    `cached` were read from the provider's cache, `written` were written to it: both have prices of their own.
    """

    input: int = attrs.field(default=0, converter=_count)
    output: int = attrs.field(default=0, converter=_count)
    cached: int = attrs.field(default=0, converter=_count)
    reasoning: int = attrs.field(default=0, converter=_count)
    written: int = attrs.field(default=0, converter=_count)

    @property
    def total(self) -> int:
        return self.input + self.output

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input - other.input,
            self.output - other.output,
            self.cached - other.cached,
            self.reasoning - other.reasoning,
            self.written - other.written,
        )

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.written + other.written,
        )


@attrs.frozen
class Text:
    """Words meant for the reader."""

    text: str


@attrs.frozen
class Reasoning:
    """Thinking that a provider may want back, exactly as it was.

    `opaque` is the provider's own JSON, kept to the byte; `origin` names the dialect that can read it.
    """

    text: str
    origin: str
    opaque: str | None = None


@attrs.frozen
class Call:
    """One request to run a tool.

    `id` is ours and unique in the session; `provider_id` is what the provider said and may repeat.
    `arguments` is the text as sent: it is parsed, never repaired.
    """

    id: str
    name: str
    arguments: str
    provider_id: str = ""
    origin: str = ""
    opaque: str | None = None
    """What the provider wants back with the call (such as a signature), as its own JSON; `origin` can read it."""


@attrs.frozen
class Foreign:
    """Something only its provider understands (such as a tool that it ran itself), kept to the byte.

    `origin` names the dialect that can read `opaque`; others never see it.
    """

    origin: str
    opaque: str


Block = Text | Reasoning | Call | Foreign


@attrs.frozen
class Image:
    """A picture that a tool returned. `data` is base64, `media_type` such as "image/png"."""

    media_type: str
    data: str


@attrs.frozen
class UserMessage:
    text: str


@attrs.frozen
class AssistantMessage:
    blocks: tuple[Block, ...]


@attrs.frozen
class ToolMessage:
    """The one answer to one call."""

    call_id: str
    name: str
    text: str
    failed: bool = False
    images: tuple[Image, ...] = ()


Message = UserMessage | AssistantMessage | ToolMessage


def text_of(blocks: tuple[Block, ...]) -> str:
    """The words of a turn, without reasoning and calls."""
    return "".join(block.text for block in blocks if isinstance(block, Text))


def calls_of(blocks: tuple[Block, ...]) -> tuple[Call, ...]:
    return tuple(block for block in blocks if isinstance(block, Call))
