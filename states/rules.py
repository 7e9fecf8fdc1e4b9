"""Rules about single calls: which run unasked, which wait for a person, which never run."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import attrs


def _texts(rules: Iterable[str]) -> tuple[str, ...]:
    if isinstance(rules, str):
        raise TypeError(f"a list of rules is needed, not the text {rules!r}; write [{rules!r}]")
    return tuple(dict.fromkeys(rules))


@attrs.frozen
class Rules:
    """Each rule is a tool's name or pattern, and what its call must look like: `bash(git status*)`,
    `edit_file(src/**)`, `mcp__files__*`, `pay(account=7)`. Deny wins over ask, ask over allow.
    """

    allow: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    ask: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    deny: tuple[str, ...] = attrs.field(default=(), converter=_texts)

    def __bool__(self) -> bool:
        return bool(self.allow or self.ask or self.deny)

    def plus(self, more: "Rules") -> "Rules":
        return Rules((*self.allow, *more.allow), (*self.ask, *more.ask), (*self.deny, *more.deny))


DELEGATES: Final = "its agents ask for themselves"
"""Why a call starts unasked that only has others work."""


class Leave(StrEnum):
    """Whether a call may start."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@attrs.frozen
class Permit:
    """A decision about one call, and what it rests on: a rule as `deny bash(rm *)`, the permission, or the tool."""

    leave: Leave
    why: str
