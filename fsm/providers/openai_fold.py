"""Folds the chunks of a chat completion into deltas and one Reply."""

from collections.abc import Mapping
from typing import Final

from states.messages import Block, Finish, Reasoning, Text, Usage
from states.ports import ReasoningDelta, Reply, TextDelta
from states.records import JSON

from .call_slots import CallSlots
from .counts import count
from .fold import Chunk, Delta, broken, unfinished
from .reasoning_details import Details

DIALECT: Final = "openai-chat"
"""The dialect that can read our reasoning blocks."""

FINISH: Final[Mapping[str, Finish]] = {
    "stop": Finish.STOP,
    "eos": Finish.STOP,
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_calls": Finish.CALLS,
    "tool_use": Finish.CALLS,
    "function_call": Finish.CALLS,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.FILTERED,
    "safety": Finish.FILTERED,
}
"""Finish reasons: OpenAI's own, and those that compatible servers were seen to send."""

THINKING: Final = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
"""What servers call their reasoning: DeepSeek and most; OpenRouter, Groq, Ollama, vLLM; Copilot; some proxies."""

BROKEN: Final = frozenset({"error", "abort", "insufficient_system_resource"})
"""Finish reasons that mean a broken answer (OpenRouter, vLLM and SGLang, DeepSeek)."""


class ChatFold:
    """One answer under way. Only the choice with index 0 counts. `origin` is put on what goes back to its provider."""

    def __init__(self, origin: str = DIALECT) -> None:
        self.done = False
        self._origin = origin
        self._model = ""
        self._finish = ""
        """The provider's finish reason; the last one given wins."""
        self._chunks = 0
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._reasoning: list[str] = []
        self._details = Details()
        self._calls = CallSlots(origin)
        self._usage: Mapping[str, JSON] = {}

    @property
    def seen(self) -> bool:
        return bool(self._text or self._reasoning or self._calls or self._refusal)

    @property
    def pieces(self) -> int:
        return len(self._text) + len(self._refusal) + len(self._reasoning) + self._calls.pieces

    @property
    def usage(self) -> Usage:
        return _usage(self._usage)

    @property
    def model(self) -> str:
        return self._model

    @property
    def whole(self) -> bool:
        return bool(self._finish) and self._finish not in BROKEN

    def end(self) -> None:
        self.done = True

    def complete(self, body: Chunk) -> list[Delta] | None:
        if not body.get("choices"):
            return None
        self.done = True
        return self.add(body, b"")

    def add(self, chunk: Chunk, raw: bytes) -> list[Delta]:
        self._chunks += 1
        deltas: list[Delta] = []
        choices = chunk.get("choices")
        if isinstance(choices, list):
            for choice in choices:
                if isinstance(choice, dict) and not choice.get("index"):
                    self._choice(choice, deltas)
        if usage := chunk.get("usage"):
            self._take_usage(usage)
        elif isinstance(groq := chunk.get("x_groq"), dict):
            self._take_usage(groq.get("usage"))
        if isinstance(model := chunk.get("model"), str) and model:
            self._model = model
        return deltas

    def reply(self) -> Reply:
        """What came, as one value. `finish` follows what is there where the provider's word contradicts it."""
        if self._finish in BROKEN:
            raise broken(self._finish)
        if not self._finish and not (self.done and self._chunks):
            raise unfinished()
        blocks: list[Block] = []
        if self._reasoning or self._details:
            blocks.append(Reasoning("".join(self._reasoning), self._origin, self._details.opaque()))
        text, refusal = "".join(self._text), "".join(self._refusal)
        if text or refusal:
            blocks.append(Text(text or refusal))
        blocks.extend(self._calls.calls())
        finish, detail = FINISH.get(self._finish.lower(), Finish.UNKNOWN), self._finish
        if refusal and not text and not self._calls and finish is not Finish.LENGTH:
            finish, detail = Finish.FILTERED, "refusal"
        elif self._calls and finish in (Finish.STOP, Finish.UNKNOWN):
            finish = Finish.CALLS
        elif not self._calls and finish is Finish.CALLS:
            finish = Finish.UNKNOWN
        return Reply(tuple(blocks), finish, _usage(self._usage), self._model, detail)

    def _choice(self, choice: Mapping[str, JSON], deltas: list[Delta]) -> None:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta, deltas)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = finish

    def _delta(self, delta: Mapping[str, JSON], deltas: list[Delta]) -> None:
        content = delta.get("content")
        if len(delta) == 1 and content and isinstance(content, str):  # nearly all of a long answer
            self._text.append(content)
            deltas.append(TextDelta(content))
        else:
            self._any_delta(delta, deltas)

    def _any_delta(self, delta: Mapping[str, JSON], deltas: list[Delta]) -> None:
        reasoning = next((said for name in THINKING if (said := delta.get(name))), None)
        details = delta.get("reasoning_details")
        if not isinstance(reasoning, str):
            reasoning = _parts(details, "text", "summary")
        if isinstance(details, list):
            self._details.add(details)
        content = delta.get("content")
        if isinstance(content, list):
            reasoning += "".join(_parts(part.get("thinking"), "text") for part in content if isinstance(part, dict))
            content = _parts(content, "text")
        if reasoning:
            self._reasoning.append(reasoning)
            deltas.append(ReasoningDelta(reasoning))
        if content and isinstance(content, str):
            self._text.append(content)
            deltas.append(TextDelta(content))
        if (refusal := delta.get("refusal")) and isinstance(refusal, str):
            self._refusal.append(refusal)
            deltas.append(TextDelta(refusal))
        if calls := delta.get("tool_calls"):
            for call in calls if isinstance(calls, list) else [calls]:
                if isinstance(call, dict):
                    self._calls.add(call)
            deltas += self._calls.ready()
        elif isinstance(one := delta.get("function_call"), dict) and not self._calls.many:
            self._calls.add_only(one)

    def _take_usage(self, usage: JSON) -> None:
        """Counts are cumulative where they come more than once: the last ones stand."""
        if isinstance(usage, dict):
            self._usage = usage


def _parts(value: JSON, *keys: str) -> str:
    """The words of a list of parts (Mistral's content and thinking, OpenRouter's reasoning details)."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    found = (part.get(key) for part in value if isinstance(part, dict) for key in keys)
    return "".join(word for word in found if isinstance(word, str))


def _usage(usage: Mapping[str, JSON]) -> Usage:
    sent, output = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    cached = count(usage.get("prompt_tokens_details"), "cached_tokens")
    reasoning = count(usage.get("completion_tokens_details"), "reasoning_tokens")
    if reasoning and count(usage, "total_tokens") == sent + output + reasoning:
        output += reasoning  # xAI counts reasoning beside the output
    written = count(usage.get("prompt_tokens_details"), "cache_write_tokens")  # OpenRouter's
    return Usage(sent, output, cached, reasoning, written)
