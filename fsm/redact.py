"""Keeps secrets out of everything that is stored or shown, even if a server or a tool echoes them."""

from collections.abc import Iterable
from typing import Final

import orjson

from states.records import JSON

MASK: Final = "[redacted]"
SHORTEST: Final = 8
"""Characters below which a string is too common to be looked for (our choice; real keys have 20 and more)."""

_OURS: Final = frozenset(
    {"kind", "type", "call", "id", "gate", "status", "trouble", "finish", "source", "target", "event", "waits_for"}
    | {"permission", "graph", "tools", "layer"}
)
"""Fields whose values are words of ours: a secret that is spelled like one is no secret there."""


class Redactor:
    """Replaces known secrets. Without secrets it costs nothing."""

    def __init__(self, secrets: Iterable[str]) -> None:
        found = {secret for secret in secrets if len(secret) >= SHORTEST}
        spellings = found | {secret.replace("/", "\\/") for secret in found}  # as some write it within JSON
        self._secrets = sorted(spellings, key=len, reverse=True)
        self._encoded = [orjson.dumps(secret)[1:-1] for secret in self._secrets]

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text

    def body(self, body: bytes) -> bytes:
        """The same for an encoded record: its values, and the names in its metadata, never its own field names."""
        if not any(secret in body for secret in self._encoded):
            return body
        return orjson.dumps(self._value(orjson.loads(body), free=False))

    def _value(self, value: JSON, *, free: bool) -> JSON:
        """`free`: within metadata, where names are a tool's own and not ours."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(item, free=free) for item in value]
        if isinstance(value, dict):
            return {
                self.text(name) if free else name: item
                if name in _OURS and not free
                else self._value(item, free=free or name == "metadata")
                for name, item in value.items()
            }
        return value

    def stream(self) -> "StreamRedactor":
        return StreamRedactor(self)

    def held_back(self, text: str) -> int:
        """How many characters at the end of `text` could be the beginning of a secret."""
        held = 0
        for secret in self._secrets:
            at = text.find(secret[0], max(0, len(text) - len(secret) + 1))
            while at >= 0 and not secret.startswith(text[at:]):
                at = text.find(secret[0], at + 1)
            if at >= 0:
                held = max(held, len(text) - at)
        return held


class StreamRedactor:
    """The same for text that comes in pieces: what could be the start of a secret waits for the next piece."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._kept = ""

    def feed(self, piece: str) -> str:
        text = self._redactor.text(self._kept + piece)
        held = self._redactor.held_back(text)
        self._kept = text[len(text) - held :]
        return text[: len(text) - held] if held else text

    def rest(self) -> str:
        """What was held back, now that nothing follows."""
        kept, self._kept = self._kept, ""
        return kept
