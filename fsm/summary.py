"""A session's entries in numbers, and the one digest that stands for all of them."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from fsm.journal.chain import genesis, link
from states.codec import encode, kind_of
from states.records import AssistantTurn, Entry, ToolResult, Transition, Verdict

_COUNTED: Final = (
    (AssistantTurn, "turns"),
    (ToolResult, "results"),
    (Verdict, "verdicts"),
    (Transition, "transitions"),
)


def summary(entries: Sequence[Entry]) -> str:
    """Such as "61 entries, 4 turns, 3 results, 20 verdicts, 14 transitions"."""
    counts = Counter(type(entry.record) for entry in entries)
    return ", ".join([f"{len(entries)} entries", *(f"{counts[kind]} {name}" for kind, name in _COUNTED)])


def head(session: str, entries: Sequence[Entry]) -> str:
    """The last digest of the chain (hex). Whoever keeps it elsewhere can tell a journal that was written anew."""
    digest = genesis(session)
    for entry in entries:
        kind, body = kind_of(entry.record), encode(entry.record)
        digest = link(digest, entry.seq, entry.fence, kind=kind, at=entry.at, body=body)
    return digest.hex()
