"""The model's own message in Anthropic's form: which of its blocks go back, and in which order."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs

from states.messages import AssistantMessage, Block, Call, Foreign, Reasoning, Text

from .call_ids import tool_name
from .encoder import NO_TEXT, readable
from .fold import Chunk
from .json_bytes import Raw, dump, object_in

THINKING: Final = frozenset({"thinking", "redacted_thinking"})


@attrs.frozen
class Part:
    """One block, encoded. `id` is the server tool's use that it begins or answers; `caller` the one that made it."""

    kind: str
    body: bytes
    id: str = ""
    caller: str = ""


def parts_of(
    turns: Sequence[AssistantMessage], origin: str, ids: Callable[[str], str], *, paused: bool = False
) -> list[Part]:
    """The blocks of consecutive turns as one message. In a paused one, a server tool may still lack its result."""
    blocks = [block for turn in turns for block in turn.blocks]
    if not any(isinstance(block, Reasoning | Foreign) and block.origin == origin for block in blocks):
        blocks.sort(key=lambda block: isinstance(block, Call))  # in this protocol calls come last
    parts: list[Part] = []
    for block in blocks:
        _add(parts, block, origin, ids)
    if not paused:
        parts = _answered(parts)
    while parts and parts[-1].kind in THINKING:
        parts.pop()  # a message may not end in thinking
    return parts or [Part("text", dump({"type": "text", "text": NO_TEXT}))]


def _add(parts: list[Part], block: Block, origin: str, ids: Callable[[str], str]) -> None:
    match block:
        case Text() if block.text.strip():
            parts.append(Part("text", dump({"type": "text", "text": block.text})))
        case Call():
            parts.append(_call(block, origin, ids))
        case Reasoning() | Foreign():
            whole = object_in(block.opaque) if block.opaque and block.origin == origin else None
            if whole is None or block.opaque is None:
                return
            if whole.get("type") == "text" and parts and parts[-1].kind == "text":
                parts.pop()  # the same words, now with their citations
            parts.append(_own(whole, block.opaque.encode()))


def _own(whole: Chunk, body: bytes) -> Part:
    use = whole.get("id") or whole.get("tool_use_id")
    return Part(str(whole.get("type")), body, use if isinstance(use, str) else "")


def _call(call: Call, origin: str, ids: Callable[[str], str]) -> Part:
    body = {
        "type": "tool_use",
        "id": ids(call.id),
        "name": tool_name(call.name),
        "input": Raw(readable(call.arguments)),
    }
    more = object_in(call.opaque) if call.opaque and call.origin == origin else None
    caller = more.get("caller") if more else None
    made_by = caller.get("tool_id") if isinstance(caller, dict) else None
    return Part("tool_use", dump({**body, **(more or {})}), caller=made_by if isinstance(made_by, str) else "")


def _answered(parts: Iterable[Part]) -> list[Part]:
    """Without server tools that never came to a result: Anthropic refuses them, unless a call of theirs is open."""
    parts = list(parts)
    settled = {part.id for part in parts if part.kind.endswith("_result")} | {part.caller for part in parts}
    return [part for part in parts if not _is_use(part) or part.id in settled]


def _is_use(part: Part) -> bool:
    return part.kind.endswith("_tool_use")


def is_open(parts: Sequence[Part]) -> bool:
    """Whether a server tool waits for its result: only its provider can go on from here."""
    return len(_answered(parts)) < len(parts)
