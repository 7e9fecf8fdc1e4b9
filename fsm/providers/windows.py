"""Context windows as data with a date. A model that is not listed has no known window, and none is guessed."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final

import attrs

from states.context import usable

from .prices import snapshot_of


@attrs.frozen
class Window:
    """Tokens of the whole window, and how many of them are kept for an answer (None: by the rule of `usable`)."""

    context: int
    answer: int | None
    source: str
    as_of: date


OPENAI: Final = "platform.openai.com/docs/models"
ANTHROPIC: Final = "docs.claude.com/en/docs/build-with-claude/context-windows"
DEEPSEEK: Final = "api-docs.deepseek.com/quick_start/pricing"
AS_OF: Final = date(2025, 9, 30)
"""The providers' pages showed these figures then, to the best of our knowledge; `window=` overrides them."""

_LISTED: Final[Mapping[str, Mapping[str, tuple[int, int | None]]]] = {
    OPENAI: {
        "gpt-5": (400_000, 128_000),
        "gpt-5-mini": (400_000, 128_000),
        "gpt-5-nano": (400_000, 128_000),
        "gpt-4.1": (1_047_576, None),
        "gpt-4.1-mini": (1_047_576, None),
        "gpt-4.1-nano": (1_047_576, None),
        "gpt-4o": (128_000, None),
        "gpt-4o-mini": (128_000, None),
        "o3": (200_000, None),
        "o4-mini": (200_000, None),
    },
    ANTHROPIC: dict.fromkeys(
        (
            "claude-opus-4-1",
            "claude-opus-4",
            "claude-sonnet-4-5",
            "claude-sonnet-4",
            "claude-3-7-sonnet",
            "claude-3-5-haiku",
        ),
        (200_000, None),
    ),
    DEEPSEEK: dict.fromkeys(("deepseek-chat", "deepseek-reasoner"), (128_000, None)),
}
WINDOWS: Final = {
    name: Window(context, answer, source, AS_OF)
    for source, models in _LISTED.items()
    for name, (context, answer) in models.items()
}


def usable_by(models: Iterable[str]) -> int | None:
    """Tokens that a request may fill whichever of these models is asked; None if none of their windows is known."""
    known = (WINDOWS.get(model) or WINDOWS.get(snapshot_of(model)) for model in models)
    return min((usable(window.context, window.answer) for window in known if window is not None), default=None)
