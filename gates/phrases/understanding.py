"""From the words of an input to the checks that it asks for, or that it does not want."""

from collections.abc import Iterable
from typing import Final

import attrs

from gates.commands import KINDS
from states.history import History
from states.records import Understood

from . import chinese, english
from .heard import Heard

LONGEST: Final = 20_000
"""Characters of an input that are read, from its beginning (our choice: a pasted log is no request)."""
RUNS_COMMANDS: Final = "bash"
"""The tool with which a run can meet such a duty."""


@attrs.frozen
class Request:
    """Kinds of checks that are asked for, the words that do so, and the kinds that are not wanted."""

    kinds: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()


def understand(text: str) -> Request:
    """What a text asks for, in English, Chinese or both. Of two words on one kind, the later one counts."""
    heard = sorted(
        [*english.hear(text[:LONGEST]), *chinese.hear(text[:LONGEST])],
        key=lambda each: each.place,
    )
    last: dict[str, Heard] = {}
    for each in heard:
        last.update(dict.fromkeys(each.kinds, each))
    wanted = _in_order(kind for kind, each in last.items() if each.wanted)
    waived = _in_order(kind for kind, each in last.items() if not each.wanted)
    return Request(wanted, tuple(dict.fromkeys(each.words for each in heard if each in last.values())), waived)


def _in_order(kinds: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(kinds, key=KINDS.index))


def understanding(history: History, text: str) -> Understood | None:
    """What to put on record about an input; None if it says nothing about checks."""
    request = understand(text)
    if not request.kinds and not request.waived:
        return None
    return Understood(request.kinds, request.phrases, request.waived, _not_owed(history) if request.kinds else "")


def _not_owed(history: History) -> str:
    """Why this run cannot owe a check; empty if it can."""
    started = history.started
    if started is None or not started.revisions:
        return "there is no workspace that a check could be bound to"
    if RUNS_COMMANDS not in started.tool_names:
        return f"there is no {RUNS_COMMANDS} tool to run a check with"
    return ""
