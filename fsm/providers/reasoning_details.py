"""OpenRouter's `reasoning_details`: pieces of them joined to what its API wants back."""

from typing import Final

from states.records import JSON

from .fold import MOST_BLOCKS, too_many_blocks
from .json_bytes import dump

WORDS: Final = ("text", "summary", "data")
"""Members that come in pieces; of the others, the last that is not null stands."""
SAME: Final = ("type", "index", "id", "format")
"""Members that tell whether a piece goes on with the one before it."""


class Details:
    """The entries of one answer, in the order in which they began."""

    def __init__(self) -> None:
        self._entries: list[dict[str, JSON]] = []
        self._words: list[dict[str, list[str]]] = []
        """Of each entry: its words in pieces."""

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, pieces: list[JSON]) -> None:
        for piece in pieces:
            if not isinstance(piece, dict):
                continue
            if not self._entries or not _goes_on(self._entries[-1], piece):
                if len(self._entries) == MOST_BLOCKS:
                    raise too_many_blocks()
                self._entries.append({})
                self._words.append({})
            self._join(piece)

    def _join(self, piece: dict[str, JSON]) -> None:
        entry, words = self._entries[-1], self._words[-1]
        for key, value in piece.items():
            if key in WORDS and isinstance(value, str) and isinstance(entry.get(key), str):
                words[key].append(value)
            elif key in WORDS and isinstance(value, str):
                entry[key], words[key] = "", [value]
            elif value is not None or key not in entry:
                entry[key] = value
                words.pop(key, None)

    def opaque(self) -> str | None:
        """The list as JSON, or None if nothing came."""
        if not self._entries:
            return None
        both = zip(self._entries, self._words, strict=True)
        whole = [entry | {key: "".join(pieces) for key, pieces in words.items()} for entry, words in both]
        return dump(whole).decode()


def _goes_on(entry: dict[str, JSON], piece: dict[str, JSON]) -> bool:
    """Encrypted data is never joined: each piece of it is whole."""
    if piece.get("type") == "reasoning.encrypted":
        return False
    return all(piece.get(key) in (None, entry.get(key)) or entry.get(key) is None for key in SAME)
