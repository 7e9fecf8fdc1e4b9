"""Folds the chunks of a chat completion into deltas and one Reply."""

from collections.abc import Mapping
from typing import Final

from states.messages import Block, Finish, Reasoning, Text, Usage
from states.ports import ReasoningDelta, Reply, TextDelta
from states.records import JSON

from .call_slots import CallSlots

ORIGIN: Final = "openai-chat"
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

BROKEN: Final = frozenset({"error", "abort", "insufficient_system_resource"})
"""Finish reasons that mean a broken answer (OpenRouter, vLLM and SGLang, DeepSeek)."""

Delta = TextDelta | ReasoningDelta


class Accumulator:
    """One answer under way. Only the choice with index 0 counts."""

    def __init__(self) -> None:
        self.model = ""
        self.finish = ""
        """The provider's finish reason; the last one given wins."""
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._reasoning: list[str] = []
        self._calls = CallSlots()
        self._usage: Mapping[str, JSON] = {}

    @property
    def seen(self) -> bool:
        """Part of an answer came: it may have been shown, so asking again would repeat it."""
        return bool(self._text or self._reasoning or self._calls or self._refusal)

    def add(self, chunk: Mapping[str, JSON]) -> list[Delta]:
        """Take a chunk, or a whole completion that was not streamed. Unknown keys are ignored."""
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
            self.model = model
        return deltas

    def reply(self) -> Reply:
        """What came, as one value. `finish` follows what is there where the provider's word contradicts it."""
        blocks: list[Block] = []
        if self._reasoning:
            blocks.append(Reasoning("".join(self._reasoning), ORIGIN))
        text, refusal = "".join(self._text), "".join(self._refusal)
        if text or refusal:
            blocks.append(Text(text or refusal))
        blocks.extend(self._calls.calls())
        finish, detail = FINISH.get(self.finish.lower(), Finish.UNKNOWN), self.finish
        if refusal and not text and not self._calls and finish is not Finish.LENGTH:
            finish, detail = Finish.FILTERED, "refusal"
        elif self._calls and finish in (Finish.STOP, Finish.UNKNOWN):
            finish = Finish.CALLS
        elif not self._calls and finish is Finish.CALLS:
            finish = Finish.UNKNOWN
        return Reply(tuple(blocks), finish, _usage(self._usage), self.model, detail)

    def _choice(self, choice: Mapping[str, JSON], deltas: list[Delta]) -> None:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta, deltas)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self.finish = finish

    def _delta(self, delta: Mapping[str, JSON], deltas: list[Delta]) -> None:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if not isinstance(reasoning, str):
            reasoning = _parts(delta.get("reasoning_details"), "text", "summary")
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
    sent, output = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    reasoning = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    if reasoning and _count(usage, "total_tokens") == sent + output + reasoning:
        output += reasoning  # xAI counts reasoning beside the output
    return Usage(sent, output, cached, reasoning)


def _count(usage: JSON | Mapping[str, JSON], key: str) -> int:
    value = usage.get(key) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and value > 0 else 0
