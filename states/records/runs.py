"""What begins a run, and what is said to it or changed about it from outside."""

from enum import StrEnum

import attrs

from states.contract import Budget, Contract, Permission
from states.rules import Rules

from .values import Metadata


class Source(StrEnum):
    """Where words for the model came from."""

    INPUT = "input"
    STEERING = "steering"
    FOLLOW_UP = "follow_up"
    """Queued while an earlier run went on; it begins a run of its own."""
    PLAN = "plan"
    """A plan that a person approved: the model's words, not theirs, so they ask for nothing beyond the task."""


class Layer(StrEnum):
    """Parts of the system prompt, in their order."""

    BASE = "base"
    STYLE = "style"
    INSTRUCTIONS = "instructions"
    MEMORY = "memory"
    ENVIRONMENT = "environment"
    APPEND = "append"


@attrs.frozen
class PromptLayer:
    """One source of the system prompt, as it was read when the run began.

    origin: a path, or `built-in`, or `given` (by the caller). size, sha256: bytes and digest (hex) of the whole source.
    """

    layer: Layer
    origin: str
    size: int
    sha256: str
    text: str = ""
    """What the model reads of it. Empty for the base, whose text is the run's `system`, and for what was left out."""
    note: str = ""
    """What was cut or left out, and why."""


@attrs.frozen
class RunStarted:
    """A run begins; what it was configured with is pinned by digests (SHA-256, hex)."""

    run: int
    graph: str
    tools: str
    model: str
    system: str = ""
    workspace: str = ""
    contract: Contract = Contract()
    budget: Budget = Budget()
    permission: Permission = Permission.FULL
    tool_names: tuple[str, ...] = ()
    """The tools that the model is offered, by name."""
    revisions: bool = False
    """There is a workspace, to whose revision evidence can be bound."""
    parent: str = ""
    """For an agent that another run called: the idempotency key of that call."""
    agent: str = ""
    """Its name among the declared agents."""
    depth: int = 0
    """How many calls of agents stand above this run."""
    only: tuple[str, ...] | None = None
    """The names and patterns that tools had to fit to be offered (None: all are)."""
    rules: Rules = Rules()
    fallbacks: tuple[str, ...] = ()
    """Models that are asked, in this order, where `model` does not answer."""
    layers: tuple[PromptLayer, ...] = ()
    """What the system prompt was made of; `system` is its base."""
    window: int | None = None
    """Tokens that a request may fill, if that is known."""


@attrs.frozen
class UserInput:
    """Words for the model. `inbox` is the inbox number of an input that another process posted."""

    text: str
    source: Source = Source.INPUT
    inbox: int | None = None
    queued: int | None = None
    """The number of the follow-up that these words were."""
    context: str = ""
    """What the host told the model before these words: the date, the folder, its state in git. Nobody asked for it."""


@attrs.frozen
class Understood:
    """What the last input asks for, beyond what is declared: checks to run, in the words that say so.

    `waived` are checks that are not to be run. `not_owed` says why the run cannot owe the kinds (empty: it does).
    """

    kinds: tuple[str, ...]
    phrases: tuple[str, ...]
    waived: tuple[str, ...] = ()
    not_owed: str = ""


@attrs.frozen
class Baseline:
    """What a gate has to remember of the world as it was before the run."""

    gate: str
    data: Metadata


@attrs.frozen
class PermissionChange:
    permission: Permission
    reason: str = ""
    rules: Rules = Rules()
    """Rules that are added to those that hold."""


@attrs.frozen
class ChainChange:
    """The models that are asked from now on: the first, and in their order those that stand in for it.

    `window`: tokens that a request to any of them may fill, if that is known.
    """

    models: tuple[str, ...]
    window: int | None = None


@attrs.frozen
class BudgetChange:
    """What the run may spend from now on, counted from its start."""

    budget: Budget
