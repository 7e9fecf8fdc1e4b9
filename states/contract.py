"""What a run owes before it may be called done, and what it may spend."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import attrs
import orjson

from .messages import LARGEST


class Permission(StrEnum):
    """Which tools run without asking."""

    FULL = "full"
    ASK = "ask"
    """Read-only tools run; every other call waits for an approval."""
    PLAN = "plan"
    """Read-only tools run; every other call is denied."""


class Isolation(StrEnum):
    """On which files an agent works."""

    NONE = "none"
    """On its caller's."""
    WORKTREE = "worktree"
    """In a git worktree of its own, which begins as its caller's workspace is; what it changes is handed back."""


class Verify(StrEnum):
    """Whether somebody who had no part in the work has to agree that it is done."""

    AUTO = "auto"
    """Where it matters: many files changed, a risky one, or a command that may have changed anything."""
    ALWAYS = "always"
    NEVER = "never"


def _verify(word: "Verify | str | None") -> Verify | None:
    return None if word is None else Verify(word)


def _unique(kinds: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    if isinstance(kinds, str):
        raise TypeError(f"a list of words is needed, not the text {kinds!r}; write [{kinds!r}]")
    return tuple(dict.fromkeys(kinds))


Proofs = Mapping[str, Iterable[str]] | Iterable[tuple[str, str]]


def _pairs(proofs: Proofs) -> tuple[tuple[str, str], ...]:
    if isinstance(proofs, Mapping):
        return tuple((kind, command) for kind, commands in proofs.items() for command in commands)
    return tuple((kind, command) for kind, command in proofs)


def _schema(schema: Mapping[str, Any] | str | None) -> str:
    return schema if isinstance(schema, str) else orjson.dumps(dict(schema)).decode() if schema is not None else ""


@attrs.frozen
class Contract:
    """Declared duties.

    `checks` are kinds with a known set of commands ("test", "lint", "type-check", "build", and those of `proofs`);
    `commands` are exact commands, each of which must have run with exit status 0.
    Both count only on the final workspace revision. `proofs` are a project's own commands, by the kind that they prove:
    `{"test": ["./run_tests.sh"]}`; a command proves it if it starts with these words.
    `output_schema` is a JSON Schema (kept as its text; empty: none): the run's result is then what the model hands in
    through the reserved tool `structured_output`, and nothing else.
    `verify`: whether an independent verifier has to agree ("auto", "always", "never"). None: "auto" for a loop that was
    given a verifier, else "never".
    """

    checks: tuple[str, ...] = attrs.field(default=(), converter=_unique)
    commands: tuple[str, ...] = attrs.field(default=(), converter=_unique)
    proofs: tuple[tuple[str, str], ...] = attrs.field(default=(), converter=_pairs)
    output_schema: str = attrs.field(default="", converter=_schema)
    verify: Verify | None = attrs.field(default=None, converter=_verify)

    @property
    def owes_evidence(self) -> bool:
        return bool(self.checks or self.commands or self.may_be_verified)

    @property
    def may_be_verified(self) -> bool:
        return self.verify in (Verify.AUTO, Verify.ALWAYS)


def _positive(_: object, attribute: "attrs.Attribute[Any]", value: float | None) -> None:
    if value is not None and not 0 < value <= LARGEST:
        raise ValueError(f"{attribute.name} must be positive and at most 2**53, not {value}; None is no limit")


@attrs.frozen
class Budget:
    """Limits of one run, over all its resumes. None is no limit: then only the model ends the run.

    `max_turns`, `max_tool_calls` and `max_delegated` (runs given to other agents) are counts; `tokens` is input plus
    output as the provider counts, `input_tokens`, `output_tokens` and `reasoning_tokens` (part of the output) each
    alone; `cost` is US dollars at list prices; `seconds` is time in which the run was being worked on (rest is free).

    `reserve`: tokens kept back for a last summary. With it, a run that is out of budget asks the model once, without
    tools, where things stand; without it, that is told from the journal alone.
    """

    max_turns: int | None = attrs.field(default=200, validator=_positive)
    """Bounded by default, because every cycle of the graph passes this counter (our choice; a rest, not an end)."""
    tokens: int | None = attrs.field(default=None, validator=_positive)
    seconds: float | None = attrs.field(default=None, validator=_positive)
    max_tool_calls: int | None = attrs.field(default=None, validator=_positive)
    input_tokens: int | None = attrs.field(default=None, validator=_positive)
    output_tokens: int | None = attrs.field(default=None, validator=_positive)
    reasoning_tokens: int | None = attrs.field(default=None, validator=_positive)
    cost: float | None = attrs.field(default=None, validator=_positive)
    max_delegated: int | None = attrs.field(default=None, validator=_positive)
    reserve: int | None = attrs.field(default=None, validator=_positive)
