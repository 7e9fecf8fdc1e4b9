"""One content block of Anthropic's Messages under way, and what it becomes."""

from typing import Final

import attrs

from states.messages import Block, Call, Foreign, Reasoning, Text
from states.records import JSON

from .fold import Chunk
from .json_bytes import Raw, dump, object_in

CALL: Final = frozenset({"type", "id", "name", "input"})
"""Members of a tool_use block that our own Call holds; the rest goes back as it came."""


@attrs.define(eq=False)
class OpenBlock:
    """`start` is the block as it began, `raw` the same to the byte; the rest came in deltas."""

    start: Chunk
    raw: str
    text: list[str] = attrs.field(factory=list)
    """Words of a text or thinking block."""
    arguments: list[str] = attrs.field(factory=list)
    more: Chunk = attrs.field(factory=dict)
    """Other members that deltas brought, such as citations."""
    texts: dict[str, list[str]] = attrs.field(factory=dict)
    """Those of them that are text, in pieces, such as a signature."""
    others: int = 0
    """Deltas of other kinds than words and arguments."""
    kind: str = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.kind = str(self.start.get("type"))

    @property
    def pieces(self) -> int:
        """Deltas so far."""
        return len(self.text) + len(self.arguments) + self.others

    def add(self, delta: Chunk) -> str:
        """Take a delta; the words in it that can be shown."""
        match delta.get("type"):
            case "text_delta" | "thinking_delta":
                words = delta.get("text") or delta.get("thinking")
                if isinstance(words, str):
                    self.text.append(words)
                    return words
            case "input_json_delta":
                piece = delta.get("partial_json")
                if isinstance(piece, str):
                    self.arguments.append(piece)
            case "citations_delta":
                self.others += 1
                cited = self.more.setdefault("citations", [])
                if isinstance(cited, list):
                    cited.append(delta.get("citation"))
            case _:
                self.others += 1
                self._merge(delta)
        return ""

    def _merge(self, delta: Chunk) -> None:
        """A delta of any other kind (signature_delta and those to come): text goes on, anything else is replaced."""
        for name, value in delta.items():
            if name == "type":
                continue
            if isinstance(value, str):
                if name not in self.texts or name in self.more:
                    self.texts[name] = []
                    self.more.pop(name, None)
                self.texts[name].append(value)
            else:
                self.more[name] = value

    def _brought(self) -> Chunk:
        """What deltas brought beside words and arguments."""
        return {name: "".join(pieces) for name, pieces in self.texts.items()} | self.more

    def finished(self, origin: str, *, signed: bool) -> tuple[Block, ...]:
        """The block in neutral form; one that was cut and that nobody could take back becomes nothing."""
        match self.kind:
            case "text":
                return self._text(origin)
            case "thinking":
                return (self._thinking(origin, signed=signed),)
            case "redacted_thinking":
                return (Reasoning("", origin, self.raw),)
            case "tool_use":
                return (self._call(origin),)
            case _:
                opaque = self._opaque()
                return () if opaque is None else (Foreign(origin, opaque),)

    def _text(self, origin: str) -> tuple[Block, ...]:
        """Words; with citations, the whole block follows them and stands for them where it can be read."""
        words = self._words("text")
        cited = self.more.get("citations") or self.start.get("citations")
        if not words or not cited:
            return (Text(words),) if words else ()
        whole = dump({**self.start, "text": words, "citations": cited})
        return Text(words), Foreign(origin, whole.decode())

    def _thinking(self, origin: str, *, signed: bool) -> Reasoning:
        words = self._words("thinking")
        whole = {**self.start, "thinking": words, **self._brought()}
        lost = signed and not whole.get("signature")
        return Reasoning(words, origin, None if lost else dump(whole).decode())

    def _call(self, origin: str) -> Call:
        arguments = "".join(self.arguments)
        if not arguments.strip():
            arguments = dump(self.start.get("input") or {}).decode()
        extra = {name: value for name, value in self.start.items() if name not in CALL}
        name, provider_id = str(self.start.get("name") or ""), str(self.start.get("id") or "")
        if not extra:
            return Call("", name, arguments, provider_id)
        return Call("", name, arguments, provider_id, origin, dump(extra).decode())

    def _opaque(self) -> str | None:
        """A block of the provider's own, exactly as it came, or with what its deltas brought."""
        arguments = "".join(self.arguments)
        more = self._brought()
        if not (arguments or self.text or more):
            return self.raw
        whole: dict[str, JSON | Raw] = {**self.start, **more}
        if arguments:
            if object_in(arguments) is None:
                return None
            whole["input"] = Raw(arguments)
        if self.text:
            whole["text"] = "".join(self.text)
        return dump(whole).decode()

    def _words(self, name: str) -> str:
        before = self.start.get(name)
        return (before if isinstance(before, str) else "") + "".join(self.text)
