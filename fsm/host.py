"""What the host has to say: hooks as a caller gives them, and whoever answers for them."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from gates.gate import Asked as GateAsked
from states.errors import ConfigError
from states.history import History
from states.ports import Hooks, ToolOutput, ToolRun
from states.records import JSON, HookResult
from states.stopping import STOP_ALLOWED

from .graph import Graph
from .world import NoHooks

if TYPE_CHECKING:
    from .hooks.hook import Hook
    from .hooks.sessions import SessionHooks


def as_hooks(hooks: "Iterable[Hook] | Hooks", directory: str, secrets: Iterable[str], graph: Graph) -> Hooks:
    """Whoever answers for hooks; commands do not get the secrets. Raises ConfigError for what is none.

    graph: the table; a hook about a run's end needs a gate there that hears it.
    """
    if not isinstance(hooks, Iterable):
        if not hasattr(hooks, "stopping"):
            raise ConfigError(f"hooks={hooks!r}: give a list of hooks, or a states.ports.Hooks")
        return hooks
    found = tuple(hooks)
    if not found:
        return NoHooks()
    from .hooks.hook import Asked, Stop, SubagentStop
    from .hooks.runner import HookRunner
    from .tools.shell.bash import SECRETS

    asked = {guard.gate.name for row in graph for guard in row.guards if isinstance(guard, GateAsked)}
    for hook in found:
        if not isinstance(hook, Asked):
            known = "PreToolUse(...), PostToolUse(...), Stop(...) or another of fsm.hooks"
            raise ConfigError(f"{hook!r} is no hook; make it with {known}")
        if isinstance(hook, Stop | SubagentStop) and STOP_ALLOWED not in asked:
            raise ConfigError(
                f"a {type(hook).__name__} hook is given, but no row of the table asks {STOP_ALLOWED!r}, the gate that "
                "hears it; put gates.stop_allowed into at_stop"
            )
    return HookRunner(found, directory or str(Path.cwd()), (*SECRETS, *hidden_of(secrets)))


def as_session_hooks(hooks: "Iterable[Hook] | Hooks", directory: str, secrets: Iterable[str]) -> "SessionHooks | None":
    """Those hooks that are about words and sessions; None if there is none. `hooks` were checked by `as_hooks`."""
    found = tuple(hooks) if isinstance(hooks, Iterable) else ()
    if not found:
        return None
    from .hooks.hook import SessionEnd, SessionStart, UserPromptSubmit
    from .hooks.sessions import SessionHooks
    from .tools.shell.bash import SECRETS

    ours = tuple(hook for hook in found if isinstance(hook, UserPromptSubmit | SessionStart | SessionEnd))
    place = directory or str(Path.cwd())
    return SessionHooks(ours, place, (*SECRETS, *hidden_of(secrets))) if ours else None


def hidden_of(secrets: Iterable[str]) -> tuple[str, ...]:
    """Variables whose value is one of the secrets: a command does not get them."""
    import os

    known = set(secrets)
    return tuple(name for name, value in os.environ.items() if value in known)


@attrs.frozen
class Unheard:
    """The same hooks, for a run whose end is nobody's business: one that only verifies."""

    hooks: Hooks

    def watches(self, name: str) -> bool:
        return self.hooks.watches(name)

    async def before(self, session: str, call: str, name: str, arguments: dict[str, JSON]) -> tuple[HookResult, ...]:
        return await self.hooks.before(session, call, name, arguments)

    async def after(self, run: ToolRun, output: ToolOutput) -> ToolOutput:
        return await self.hooks.after(run, output)

    async def stopping(self, history: History) -> tuple[HookResult, ...]:
        return ()
