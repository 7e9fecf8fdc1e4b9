"""Joins the pieces of streamed tool calls. Servers disagree on what tells one call from the next."""

from collections.abc import Iterator, Mapping
from typing import Final

import attrs
import orjson

from states.messages import Call
from states.ports import CallReady
from states.records import JSON

from .fold import MOST_CALLS, too_many_calls
from .json_bytes import dump

SHORT: Final = 4096
"""Characters of arguments up to which it is looked whether they are complete before the next call begins (our choice:
what reads has short ones, and looking at a long text again and again is slow)."""


@attrs.define(eq=False)
class _Slot:
    """One call under way."""

    provider_id: str
    name: str
    pieces: list[str] = attrs.field(factory=list)
    size: int = 0
    """Characters of the pieces."""
    extra: JSON = None
    """What the provider wants back with the call (Gemini's thought signature)."""

    def whole(self) -> bool:
        return _is_object("".join(self.pieces))

    def ended(self) -> bool:
        """The arguments, as sent so far, are a complete JSON object, and not a long one."""
        if not self.name or not self.pieces or not self.pieces[-1].rstrip().endswith("}"):
            return False
        return self.size <= SHORT and self.whole()

    def add(self, arguments: str) -> None:
        self.pieces.append(arguments)
        self.size += len(arguments)

    def stands_apart(self, arguments: str) -> bool:
        """Whether `arguments` are those of another call: both they and what came so far are complete.

        A long text that came in pieces is not looked at: it would be read anew for every piece.
        """
        if not self.pieces or not (len(self.pieces) == 1 or self.size <= SHORT) or not _is_object(arguments):
            return False
        return arguments != "".join(self.pieces) and self.whole()

    def arguments(self) -> str:
        """The text as sent.

        Three servers' habits are undone, and only where the plain sum is no JSON object: one that is wrapped in a
        JSON string, a last piece that says everything once more, and pieces that each repeat all before them.
        """
        plain = "".join(self.pieces)
        if plain.lstrip().startswith('"'):
            return _unwrapped(plain)
        if len(self.pieces) < 2 or _is_object(plain):
            return plain
        last = self.pieces[-1]
        again = "".join(self.pieces[:-1]) == last
        growing = all(later.startswith(earlier) for earlier, later in zip(self.pieces, self.pieces[1:], strict=False))
        return last if (again or growing) and _is_object(last) else plain


class CallSlots:
    """The calls of one answer, in the order in which they began."""

    def __init__(self, origin: str = "") -> None:
        self._origin = origin
        self._slots: list[_Slot] = []
        self._at: dict[int | str, _Slot] = {}
        """The newest slot of an index (int) and of an id (str)."""
        self._only: _Slot | None = None
        """The call in the older form."""
        self._announced = 0
        self.pieces = 0
        """Pieces of arguments so far."""

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, piece: Mapping[str, JSON]) -> None:
        """Take one entry of `tool_calls`. Nulls and empty strings say nothing."""
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        index, provider_id, name = piece.get("index"), _text(piece.get("id")), _text(function.get("name"))
        arguments = _arguments(function.get("arguments"))
        number = index if isinstance(index, int) else None
        slot = self._slot(number, provider_id, name, arguments)
        if slot is None:
            if not (provider_id or name or arguments):
                return
            if len(self._slots) == MOST_CALLS:
                raise too_many_calls()
            slot = _Slot(provider_id, name)
            self._slots.append(slot)
        if number is not None:
            self._at[number] = slot
        if provider_id:
            self._at[provider_id] = slot
        slot.provider_id = slot.provider_id or provider_id
        slot.name = slot.name or name
        if arguments:
            slot.add(arguments)
            self.pieces += 1
        slot.extra = piece.get("extra_content") or slot.extra

    @property
    def many(self) -> bool:
        """Calls came in the form of `tool_calls`."""
        return bool(self._slots) and self._only is None

    def add_only(self, function: Mapping[str, JSON]) -> None:
        """Take a piece of `function_call`, the older form of a single call."""
        name, arguments = _text(function.get("name")), _arguments(function.get("arguments"))
        if self._only is None:
            if not (name or arguments):
                return
            self._only = _Slot("", name)
            self._slots.append(self._only)
        self._only.name = self._only.name or name
        if arguments:
            self._only.add(arguments)
            self.pieces += 1

    def ready(self) -> Iterator[CallReady]:
        """Calls that are complete and were not announced yet, in their order.

        The protocol does not say when a call is complete: it is when the next one begins, or when what was sent of it
        is a JSON object. Where a server then still changes it, the Reply says so, and what was announced is void.
        """
        while self._announced < len(self._slots):
            place = self._announced
            if place + 1 == len(self._slots) and not self._slots[place].ended():
                return
            self._announced += 1
            yield CallReady(place, self._call(self._slots[place]))

    def calls(self) -> tuple[Call, ...]:
        return tuple(self._call(slot) for slot in self._slots)

    def _call(self, slot: _Slot) -> Call:
        arguments = slot.arguments()
        if slot.extra is None:
            return Call("", slot.name, arguments, slot.provider_id)
        return Call("", slot.name, arguments, slot.provider_id, self._origin, dump(slot.extra).decode())

    def _slot(self, index: int | None, provider_id: str, name: str, arguments: str) -> _Slot | None:
        """The slot that a piece goes on with, or None if it begins a new call."""
        if index is not None:
            slot = self._at.get(index)
        elif provider_id:
            slot = self._at.get(provider_id)
            if slot is None and not name:
                slot = self._last()
        else:
            slot = self._last()
        if slot is None or not name:
            return slot
        if provider_id and slot.provider_id and provider_id != slot.provider_id:
            return None  # two calls under one index
        if slot.name and name != slot.name:
            return None
        if slot.stands_apart(arguments):
            return None  # the same tool once more, under the same or no id
        return slot

    def _last(self) -> _Slot | None:
        return self._slots[-1] if self._slots else None


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: JSON) -> str:
    """Text as it came; an object, which some servers send, as its JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else orjson.dumps(value).decode()


def _unwrapped(text: str) -> str:
    """The object inside a JSON string; the text itself where there is none."""
    try:
        inner = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return inner if isinstance(inner, str) and _is_object(inner) else text


def _is_object(text: str) -> bool:
    try:
        return isinstance(orjson.loads(text), dict)
    except orjson.JSONDecodeError:
        return False
