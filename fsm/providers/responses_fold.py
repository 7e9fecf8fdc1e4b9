"""Folds the events of OpenAI's Responses into deltas and one Reply."""

from collections.abc import Mapping
from typing import Final

from states.messages import Block, Call, Finish, Foreign, Reasoning, Text, Usage, calls_of
from states.ports import CallReady, ReasoningDelta, Reply, TextDelta
from states.records import JSON

from .counts import count
from .faults import of_event
from .fold import (
    MOST_BLOCKS,
    MOST_CALLS,
    Chunk,
    Delta,
    broken,
    too_many_blocks,
    too_many_calls,
    unfinished,
)
from .json_bytes import dump, member

DIALECT: Final = "openai-responses"

WORDS: Final = frozenset({"response.output_text.delta", "response.refusal.delta"})
THOUGHTS: Final = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
CALL: Final = frozenset({"type", "call_id", "name", "arguments", "status"})
"""Members of a function_call that our own Call holds, or that mean nothing once it is complete."""


class ResponsesFold:
    """One answer under way: the items as they were finished, in the order of their `output_index`.

    The order in the last event is not trusted: OpenRouter's differs from what was streamed.
    """

    def __init__(self, origin: str = DIALECT) -> None:
        self.done = False
        self._origin = origin
        self._model = ""
        self._end: Chunk = {}
        """The response as the last event told it."""
        self._items: dict[int, tuple[Chunk, str]] = {}
        """By output_index: the finished item, and the same to the byte."""
        self._words: dict[int, list[str]] = {}
        """By output_index: the words that were shown, in case their item never comes."""
        self._declined = False
        """Some of them were a refusal."""
        self._seen = False
        self._pieces = 0
        self._called: set[int] = set()
        """Where calls stand, the unfinished ones among them."""
        self._thought_in = ("", "", "")
        """Item and part of the last thinking: a new part begins a new paragraph."""

    @property
    def seen(self) -> bool:
        return self._seen

    @property
    def pieces(self) -> int:
        return self._pieces

    @property
    def usage(self) -> Usage:
        return _usage(self._end.get("usage"))

    @property
    def model(self) -> str:
        return self._model

    @property
    def whole(self) -> bool:
        return bool(self._end)

    def end(self) -> None:
        """`[DONE]` is not of this protocol; some gateways send it after the last event."""

    def complete(self, body: Chunk) -> list[Delta] | None:
        if not isinstance(body.get("output"), list):
            return None
        self._finish(body)
        blocks = self._blocks()
        return [TextDelta(block.text) for block in blocks if isinstance(block, Text)]

    def add(self, chunk: Chunk, raw: bytes) -> list[Delta]:
        kind = chunk.get("type")
        if kind in WORDS:
            return self._said(chunk, refused=kind == "response.refusal.delta")
        if kind in THOUGHTS:
            return self._thought(chunk)
        if kind == "response.output_item.done":
            item, index = chunk.get("item"), chunk.get("output_index")
            if isinstance(item, dict):
                place = index if isinstance(index, int) else len(self._items)
                self._pieces += 1
                if len(self._items) == MOST_BLOCKS:
                    raise too_many_blocks()
                again, self._items[place] = place in self._items, (item, member(raw, "item", item))
                self._seen = self._seen or item.get("type") != "reasoning"
                return [] if again else self._called_at(place)
        elif kind == "response.output_item.added":
            item, index = chunk.get("item"), chunk.get("output_index")
            if isinstance(item, dict) and item.get("type") == "function_call" and isinstance(index, int):
                self._call_begins(index)
            self._seen = self._seen or (isinstance(item, dict) and item.get("type") not in ("reasoning", "message"))
        elif kind in ENDS:
            response = chunk.get("response")
            self._finish(response if isinstance(response, dict) else {"status": str(kind).removeprefix("response.")})
        elif kind == "error":
            raise of_event(chunk)
        elif isinstance(kind, str) and kind.endswith(".delta"):
            self._pieces += 1  # arguments, and whatever else grows: the whole item follows
        return []

    def _said(self, chunk: Chunk, *, refused: bool) -> list[Delta]:
        deltas, place = self._shown(TextDelta, words := chunk.get("delta")), chunk.get("output_index")
        if deltas and isinstance(words, str):
            self._words.setdefault(place if isinstance(place, int) else 0, []).append(words)
            self._declined = self._declined or refused
        return deltas

    def _call_begins(self, place: int) -> None:
        self._called.add(place)
        if len(self._called) > MOST_CALLS:
            raise too_many_calls()

    def _called_at(self, place: int) -> list[Delta]:
        """The item that was just finished there, if it is a call: now it is complete."""
        item, raw = self._items[place]
        if item.get("type") != "function_call":
            return []
        self._call_begins(place)
        order = sum(other < place for other in self._called)
        return [CallReady(order, call) for call in _neutral(item, raw, self._origin) if isinstance(call, Call)]

    def reply(self) -> Reply:
        if not self._end:
            raise unfinished()
        if (status := self._end.get("status")) not in ("completed", "incomplete"):
            raise broken(str(status))
        blocks = self._blocks()
        finish, detail = self._why(blocks)
        return Reply(blocks, finish, _usage(self._end.get("usage")), self._model, detail)

    def _finish(self, response: Chunk) -> None:
        if (error := response.get("error")) or response.get("status") == "failed":
            raise of_event(error or "the response failed")
        self.done, self._end = True, response
        if isinstance(model := response.get("model"), str):
            self._model = model
        output = response.get("output")
        if not self._items and isinstance(output, list):
            told = [item for item in output if isinstance(item, dict)]
            self._items = {place: (item, dump(item).decode()) for place, item in enumerate(told)}
            if told:
                self._words.clear()

    def _shown(self, kind: type[TextDelta] | type[ReasoningDelta], words: JSON) -> list[Delta]:
        if not isinstance(words, str) or not words:
            return []
        self._seen = True
        self._pieces += 1
        return [kind(words)]

    def _thought(self, chunk: Chunk) -> list[Delta]:
        place = (str(chunk.get("item_id")), str(chunk.get("summary_index")), str(chunk.get("content_index")))
        new, self._thought_in = place != self._thought_in and any(self._thought_in), place
        deltas = self._shown(ReasoningDelta, chunk.get("delta"))
        return [ReasoningDelta("\n\n"), *deltas] if new and deltas else deltas

    def _blocks(self) -> tuple[Block, ...]:
        """The items in their order; words whose item never came stand for it."""
        lost: dict[int, list[Block]] = {
            place: [Text("".join(words))] for place, words in self._words.items() if place not in self._items
        }
        told = {place: _neutral(item, raw, self._origin) for place, (item, raw) in self._items.items()}
        return tuple(block for _, blocks in sorted((lost | told).items()) for block in blocks)

    def _why(self, blocks: tuple[Block, ...]) -> tuple[Finish, str]:
        if self._end.get("status") == "incomplete":
            details = self._end.get("incomplete_details")
            reason = str(details.get("reason")) if isinstance(details, dict) else "incomplete"
            return Finish.FILTERED if reason == "content_filter" else Finish.LENGTH, reason
        if calls_of(blocks):
            return Finish.CALLS, "completed"
        refused = self._declined or any(_refused(item) for item, _ in self._items.values())
        return (Finish.FILTERED, "refusal") if refused else (Finish.STOP, "completed")


def _neutral(item: Chunk, raw: str, origin: str) -> list[Block]:
    """An item in neutral form: what only its provider understands to the byte, after the words that it stands for."""
    match item.get("type"):
        case "reasoning":
            return [Reasoning("\n\n".join(_texts(item.get("summary")) + _texts(item.get("content"))), origin, raw)]
        case "message":
            words = [Text(text) for text in _texts(item.get("content"))]
            return [*words, Foreign(origin, raw)] if words and _says_more(item) else [*words]
        case "function_call":
            more = {name: value for name, value in item.items() if name not in CALL and value is not None}
            name, arguments = str(item.get("name") or ""), item.get("arguments")
            said = arguments if isinstance(arguments, str) else dump(arguments or {}).decode()
            return [Call("", name, said, str(item.get("call_id") or ""), origin, dump(more).decode())]
        case _:
            return [Foreign(origin, raw)]


def _texts(parts: JSON) -> list[str]:
    """The words of a message's or a reasoning item's parts."""
    if not isinstance(parts, list):
        return []
    found = (part.get("text") or part.get("refusal") for part in parts if isinstance(part, dict))
    return [text for text in found if isinstance(text, str) and text]


def _says_more(item: Chunk) -> bool:
    """A message that holds more than words: its phase, or where the words are from."""
    parts = item.get("content")
    cited = isinstance(parts, list) and any(isinstance(part, dict) and part.get("annotations") for part in parts)
    return bool(item.get("phase")) or cited


def _refused(item: Chunk) -> bool:
    parts = item.get("content")
    return isinstance(parts, list) and any(isinstance(part, dict) and part.get("type") == "refusal" for part in parts)


def _usage(usage: JSON | Mapping[str, JSON]) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    cached = count(usage.get("input_tokens_details"), "cached_tokens")
    reasoning = count(usage.get("output_tokens_details"), "reasoning_tokens")
    return Usage(count(usage, "input_tokens"), count(usage, "output_tokens"), cached, reasoning)
