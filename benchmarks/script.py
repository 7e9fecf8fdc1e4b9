"""The conversation that every measurement holds: what the user, the model and the tool say, turn by turn."""

import json
from typing import Final

SYSTEM: Final = "You are a benchmark agent. Use the echo tool."
TASK: Final = "Call the echo tool until you are told to stop, then say that you are done."
KEY: Final = "sk-bench-0123456789abcdefghijklmnopqrstuvwxyz-no-secret"
"""As long as real keys: whatever looks for it in every delta has to look."""
TOOL: Final = "echo"
TOOL_DESCRIPTION: Final = "Echo the text."
OUTPUT: Final = 1_024
"""Characters of one tool result."""
TEXT_DELTAS: Final = 31
ARGUMENT_DELTAS: Final = 7
"""With the delta that opens the message and the one that opens the call, a turn has 40 deltas, about 200 tokens."""

_WORDS: Final = [
    "the",
    "journal",
    "is",
    "appended",
    "before",
    "the",
    "effect",
    "counts",
    "and",
    "the",
    "state",
    "machine",
    "moves",
    "only",
    "on",
    "what",
    "has",
    "been",
    "committed",
    "to",
    "the",
    "store",
    "so",
    "that",
    "a",
    "crash",
    "at",
    "any",
    "point",
    "leaves",
    "a",
    "history",
    "that",
    "can",
    "be",
    "read",
    "back",
    "and",
    "continued",
    "without",
    "asking",
    "the",
    "model",
    "again",
    "for",
    "work",
    "that",
    "it",
    "has",
    "done",
]


def echoed(text: str) -> str:
    """What the tool answers."""
    return (f"{text} | " * (OUTPUT // (len(text) + 3) + 1))[:OUTPUT]


def words(turn: int, start: int, count: int) -> str:
    """Different from turn to turn, and always the same."""
    return " ".join(_WORDS[(turn * 7 + start * 5 + place) % len(_WORDS)] for place in range(count)) + " "


def arguments(turn: int) -> str:
    """The arguments of the turn's one call, as JSON."""
    return json.dumps({"text": f"turn {turn} of the run: {words(turn, 3, 40).strip()}"})


def deltas(turn: int, *, final: bool) -> list[dict[str, object]]:
    """The deltas of a turn: text, and unless it is the last turn, one call in pieces."""
    said: list[dict[str, object]] = [{"role": "assistant", "content": ""}]
    said += [{"content": words(turn, place, 5)} for place in range(TEXT_DELTAS)]
    if final:
        return said
    whole = arguments(turn)
    step = -(-len(whole) // ARGUMENT_DELTAS)
    said.append(_call({"id": f"call_{turn:06d}", "type": "function", "function": {"name": TOOL, "arguments": ""}}))
    said += [_call({"function": {"arguments": whole[at : at + step]}}) for at in range(0, len(whole), step)]
    return said


def _call(piece: dict[str, object]) -> dict[str, object]:
    return {"tool_calls": [{"index": 0, **piece}]}
