"""Folds the events of Anthropic's Messages into deltas and one Reply."""

from collections.abc import Mapping
from typing import Final

from states.messages import Block, Call, Finish, Usage, calls_of
from states.ports import CallReady, ReasoningDelta, Reply, TextDelta
from states.records import JSON, Trouble

from .anthropic_blocks import OpenBlock
from .counts import count
from .faults import Fault
from .fold import MOST_BLOCKS, MOST_CALLS, Chunk, Delta, too_many_blocks, too_many_calls, unfinished
from .json_bytes import dump, member

DIALECT: Final = "anthropic"

FINISH: Final[Mapping[str, Finish]] = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.CALLS,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.FILTERED,
    "pause_turn": Finish.PAUSED,
    "compaction": Finish.PAUSED,
}
"""Stop reasons. A full context window cuts an answer like the output limit does; the next request then overflows."""


class MessagesFold:
    """One answer under way. With `signed`, thinking without a signature is kept as words only: it cannot go back."""

    def __init__(self, origin: str = DIALECT, *, signed: bool = True) -> None:
        self.done = False
        self._origin = origin
        self._signed = signed
        self._model = ""
        self._stop = ""
        self._started = False
        self._blocks: dict[int, OpenBlock] = {}
        self._stopped: set[int] = set()
        self._calls = 0
        self._usage: dict[str, JSON] = {}
        self._seen = False

    @property
    def seen(self) -> bool:
        return self._seen

    @property
    def pieces(self) -> int:
        return len(self._blocks) + sum(block.pieces for block in self._blocks.values())

    @property
    def usage(self) -> Usage:
        return self._count()

    @property
    def model(self) -> str:
        return self._model

    @property
    def whole(self) -> bool:
        return bool(self._stop)

    def end(self) -> None:
        """`[DONE]` is not of this protocol; some gateways send it."""

    def complete(self, body: Chunk) -> list[Delta] | None:
        if not isinstance(body.get("content"), list):
            return None
        self.done = True
        return self._message(body)

    def add(self, chunk: Chunk, raw: bytes) -> list[Delta]:
        if (kind := chunk.get("type")) == "content_block_delta":
            return self._delta(chunk)
        match kind:
            case "content_block_stop":
                return self._end_block(chunk.get("index"))
            case "content_block_start":
                block = chunk.get("content_block")
                if isinstance(block, dict):
                    return self._begin(chunk.get("index"), block, member(raw, "content_block", block))
            case "message_start":
                message = chunk.get("message")
                if isinstance(message, dict):
                    return self._message(message)
            case "message_delta":
                self._take_stop(chunk.get("delta"))
                self._take_usage(chunk.get("usage"))
            case "message_stop":
                self.done = True
        return []

    def reply(self) -> Reply:
        if not self._stop and not (self.done and self._started):
            raise unfinished()
        blocks: list[Block] = []
        for _, block in sorted(self._blocks.items()):
            blocks += block.finished(self._origin, signed=self._signed)
        if self._stop == "model_context_window_exceeded" and not self._seen:
            raise Fault(Trouble.OVERFLOW, "the conversation fills the model's context window (no room for an answer)")
        finish = FINISH.get(self._stop, Finish.UNKNOWN)
        called = bool(calls_of(tuple(blocks)))
        if called and finish in (Finish.STOP, Finish.UNKNOWN):
            finish = Finish.CALLS
        elif not called and finish is Finish.CALLS:
            finish = Finish.UNKNOWN
        return Reply(tuple(blocks), finish, self._count(), self._model, self._stop)

    def _message(self, message: Chunk) -> list[Delta]:
        """A message as it begins; some servers put all of it there."""
        self._started = True
        if isinstance(model := message.get("model"), str):
            self._model = model
        self._take_stop(message)
        self._take_usage(message.get("usage"))
        content = message.get("content")
        deltas: list[Delta] = []
        for place, block in enumerate(content if isinstance(content, list) else []):
            if isinstance(block, dict):
                deltas += self._begin(place, block, dump(block).decode())
        return deltas

    def _begin(self, index: JSON, start: Chunk, raw: str) -> list[Delta]:
        block = OpenBlock(start, raw)
        if len(self._blocks) == MOST_BLOCKS:
            raise too_many_blocks()
        if block.kind == "tool_use":
            self._calls += 1
            if self._calls > MOST_CALLS:
                raise too_many_calls()
        self._blocks[index if isinstance(index, int) else len(self._blocks)] = block
        self._seen = self._seen or block.kind not in ("text", "thinking")
        words = start.get(block.kind)
        return self._shown(block, words) if isinstance(words, str) else []

    def _delta(self, chunk: Chunk) -> list[Delta]:
        index, delta = chunk.get("index"), chunk.get("delta")
        block = self._blocks.get(index) if isinstance(index, int) else None
        if block is None or not isinstance(delta, dict):
            return []
        if block.kind == "text" and (words := delta.get("text")) and isinstance(words, str) and len(delta) == 2:
            block.text.append(words)  # nearly all of a long answer
            self._seen = True
            return [TextDelta(words)]
        return self._shown(block, block.add(delta))

    def _end_block(self, index: JSON) -> list[Delta]:
        """A call is complete when its block ends."""
        block = self._blocks.get(index) if isinstance(index, int) else None
        if block is None or not isinstance(index, int) or block.kind != "tool_use" or index in self._stopped:
            return []
        self._stopped.add(index)
        order = sum(other.kind == "tool_use" for place, other in self._blocks.items() if place < index)
        return [CallReady(order, call) for call in block.finished(self._origin, signed=False) if isinstance(call, Call)]

    def _shown(self, block: OpenBlock, words: str) -> list[Delta]:
        if not words:
            return []
        self._seen = True
        return [ReasoningDelta(words) if block.kind == "thinking" else TextDelta(words)]

    def _take_stop(self, said: JSON | Chunk) -> None:
        if isinstance(said, dict) and isinstance(stop := said.get("stop_reason"), str):
            self._stop = stop

    def _take_usage(self, usage: JSON) -> None:
        """Counts that come later replace the earlier ones; a null says nothing."""
        if isinstance(usage, dict):
            self._usage |= {name: value for name, value in usage.items() if value is not None}

    def _count(self) -> Usage:
        """Anthropic counts what the cache gave and took beside the input."""
        usage = self._usage
        cached, written = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
        sent = count(usage, "input_tokens") + cached + written
        thought = count(usage.get("output_tokens_details"), "thinking_tokens")
        return Usage(sent, count(usage, "output_tokens"), cached, thought, written)
