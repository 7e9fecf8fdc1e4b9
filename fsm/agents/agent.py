"""What an agent is: a prompt, tools, a model, and what it may do. It works when a run calls it by its name."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeVar

import attrs

from fsm.tools import Tool
from states.contract import Budget, Contract, Isolation, Permission
from states.errors import ConfigError
from states.history import History
from states.ports import Provider

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

Number = TypeVar("Number", int, float)
ORDER: Final = (Permission.PLAN, Permission.ASK, Permission.FULL)
"""From the narrowest to the widest."""


def narrower(one: Permission, other: Permission) -> Permission:
    """The one of the two that lets fewer calls run."""
    return min(one, other, key=ORDER.index)


def _several(tools: Iterable[str | Tool] | None) -> tuple[str | Tool, ...] | None:
    if isinstance(tools, str):
        raise ConfigError(f"an agent's tools are a list of names or tools, not the text {tools!r}; write [{tools!r}]")
    return None if tools is None else tuple(tools)


def _permission(value: Permission | str | None) -> Permission | None:
    from fsm.setup import as_permission

    return None if value is None else as_permission(value)


def _isolation(value: Isolation | str) -> Isolation:
    try:
        return Isolation(value)
    except ValueError:
        raise ConfigError(f"unknown isolation {value!r}; known: {', '.join(Isolation)}") from None


@attrs.frozen
class Agent:
    """Somebody that a run can give work to, through the tool `task`.

    name: how it is called; a letter or digit, then letters, digits, `_` or `-`, at most 64.
    description: what it is for, one sentence; the calling model chooses by it.
    prompt: its system prompt.
    tools: names of its caller's tools, or tools of its own. None: all of its caller's.
    provider: whom it asks. None: its caller's.
    permission: never wider than its caller's, whatever is asked for here. None: its caller's.
    budget: its own; what is left of its caller's tokens and seconds bounds it too.
    contract: what it owes before it may say that it is done.
    isolation: "worktree": it works in a git worktree of its own, and its caller applies what it changed, or does not.
    """

    name: str
    description: str
    prompt: str
    tools: tuple[str | Tool, ...] | None = attrs.field(default=None, converter=_several)
    provider: Provider | None = attrs.field(default=None, eq=False)
    permission: Permission | None = attrs.field(default=None, converter=_permission)
    budget: Budget = Budget()
    contract: Contract = Contract()
    isolation: Isolation = attrs.field(default=Isolation.NONE, converter=_isolation)

    def __attrs_post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(
                f"agent {self.name!r}: a name has 1 to 64 letters, digits, '_' or '-', and begins with neither of these"
            )
        for what in ("description", "prompt"):
            if not str(getattr(self, what)).strip():
                raise ConfigError(f"agent {self.name!r}: its {what} is empty")


@attrs.frozen
class Lineage:
    """Where a loop stands below the call that began it. `secrets` are those of the runs above it.

    state_dir: where its caller's loop keeps things. workspace: the folder that it works on, if that is its own.
    """

    parent: str = ""
    """The call's idempotency key."""
    agent: str = ""
    depth: int = 0
    secrets: tuple[str, ...] = ()
    state_dir: Path | None = None
    workspace: Path | None = None


def session_of(key: str) -> str:
    """The session of the agent that the call with this idempotency key begins: the same one after a crash."""
    session, _, intent = key.rpartition(":")
    return f"{session}.{intent}"


LATER: Final = "mcp__"
"""What names of tools begin with that are not known before their server is connected."""


def check_agents(agents: Iterable[Agent], known: Iterable[str]) -> tuple[Agent, ...]:
    """`known` are the caller's tools. Raises ConfigError for two of one name, or a tool that is not there."""
    found = tuple(agents)
    names = [agent.name for agent in found]
    tools = tuple(known)
    for agent in found:
        if names.count(agent.name) > 1:
            raise ConfigError(f"two agents are called {agent.name!r}; rename one of them")
        for tool in agent.tools or ():
            if isinstance(tool, str) and tool not in tools and not tool.startswith(LATER):
                raise ConfigError(
                    f"agent {agent.name!r} asks for a tool {tool!r}; there are: {', '.join(tools) or 'none'}"
                )
    return found


LEAST: Final = 1e-6
"""US dollars that an agent may spend whose caller has none left: its first turn is its last."""


def within(budget: Budget, caller: History) -> Budget:
    """An agent's budget, bounded by what its caller has left of tokens, cost and seconds."""
    tokens, seconds, cost = caller.budget.tokens, caller.budget.seconds, caller.budget.cost
    return attrs.evolve(
        budget,
        tokens=_least(budget.tokens, None if tokens is None else max(1, tokens - caller.usage.total)),
        cost=_least(budget.cost, None if cost is None else max(LEAST, cost - caller.cost)),
        seconds=_least(budget.seconds, None if seconds is None else max(1.0, seconds - caller.seconds)),
    )


def _least(one: Number | None, other: Number | None) -> Number | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None
