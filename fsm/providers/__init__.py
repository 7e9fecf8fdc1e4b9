"""Models behind a wire: real servers, recorded turns and scripts. Nothing is imported until it is used."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .openai_chat import OpenAIChat
    from .record import Recorder
    from .replay import Replay
    from .scripted import Scripted

__all__ = ["OpenAIChat", "Recorder", "Replay", "Scripted"]

_HOME: Final = {"OpenAIChat": "openai_chat", "Recorder": "record", "Replay": "replay", "Scripted": "scripted"}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
