"""How a system prompt is put together from what a run's record holds."""

from collections.abc import Iterable

from .records import PromptLayer


def composed(base: str, layers: Iterable[PromptLayer]) -> str:
    """The base, then the layers that have words, in their order. Without any, the base to the byte."""
    added = [layer.text.strip() for layer in layers if layer.text.strip()]
    return "\n\n".join([base.rstrip("\n"), *added]) if added else base
