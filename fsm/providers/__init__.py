"""Models behind a wire: real servers, recorded turns and scripts. Nothing is imported until it is used."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .anthropic import Anthropic
    from .openai_chat import OpenAIChat
    from .openai_responses import OpenAIResponses
    from .record import Recorder
    from .replay import Replay
    from .scripted import Scripted
    from .traffic import Traffic

__all__ = ["Anthropic", "OpenAIChat", "OpenAIResponses", "Recorder", "Replay", "Scripted", "Traffic"]

_HOME: Final = {
    "Anthropic": "anthropic",
    "OpenAIChat": "openai_chat",
    "OpenAIResponses": "openai_responses",
    "Recorder": "record",
    "Replay": "replay",
    "Scripted": "scripted",
    "Traffic": "traffic",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
