"""OpenRouter's `reasoning_details`: pieces of them joined to what its API wants back."""

from typing import Final

from states.records import JSON

from .json_bytes import dump

WORDS: Final = ("text", "summary", "data")
"""Members that come in pieces; of the others, the last that is not null stands."""
SAME: Final = ("type", "index", "id", "format")
"""Members that tell whether a piece goes on with the one before it."""


class Details:
    """The entries of one answer, in the order in which they began."""

    def __init__(self) -> None:
        self._entries: list[dict[str, JSON]] = []

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, pieces: list[JSON]) -> None:
        for piece in pieces:
            if not isinstance(piece, dict):
                continue
            if self._entries and _goes_on(self._entries[-1], piece):
                _join(self._entries[-1], piece)
            else:
                self._entries.append(dict(piece))

    def opaque(self) -> str | None:
        """The list as JSON, or None if nothing came."""
        return dump(self._entries).decode() if self._entries else None


def _goes_on(entry: dict[str, JSON], piece: dict[str, JSON]) -> bool:
    """Encrypted data is never joined: each piece of it is whole."""
    if piece.get("type") == "reasoning.encrypted":
        return False
    return all(piece.get(key) in (None, entry.get(key)) or entry.get(key) is None for key in SAME)


def _join(entry: dict[str, JSON], piece: dict[str, JSON]) -> None:
    for key, value in piece.items():
        before = entry.get(key)
        if key in WORDS and isinstance(before, str) and isinstance(value, str):
            entry[key] = before + value
        elif value is not None:
            entry[key] = value
