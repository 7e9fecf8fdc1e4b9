"""Hooks as they stand in a settings file, in the layout of Claude Code."""

from pathlib import Path
from typing import Final

import orjson

from states.errors import ConfigError

from .hook import (
    TIMEOUT,
    Hook,
    PostToolUse,
    PreToolUse,
    SessionEnd,
    SessionStart,
    Stop,
    SubagentStop,
    UserPromptSubmit,
)

Kind = (
    type[PreToolUse]
    | type[PostToolUse]
    | type[Stop]
    | type[SubagentStop]
    | type[UserPromptSubmit]
    | type[SessionStart]
    | type[SessionEnd]
)
_ALL: Final[tuple[Kind, ...]] = (
    PreToolUse,
    PostToolUse,
    Stop,
    SubagentStop,
    UserPromptSubmit,
    SessionStart,
    SessionEnd,
)
KINDS: Final[dict[str, Kind]] = {kind.__name__: kind for kind in _ALL}
_UNMATCHED: Final = (Stop, UserPromptSubmit)
"""There is nothing that a matcher of theirs could match."""


def read_hooks(said: object, where: str) -> tuple[Hook, ...]:
    """The hooks of a table `{event: [{matcher, hooks: [{type, command, timeout}]}]}`. Raises ConfigError.

    An event that Interlock does not know is refused: a guard that is never asked guards nothing.
    """
    if not isinstance(said, dict):
        raise ConfigError(f"{where}: hooks is no table; it looks like [[hooks.PreToolUse]]")
    found: list[Hook] = []
    for event, groups in said.items():
        if event not in KINDS:
            raise ConfigError(f"{where}: hooks for {event!r} are not run; known: {', '.join(KINDS)}")
        for group in _list(groups, where, f"hooks.{event}"):
            matcher = group.get("matcher", "")
            listed = _list(group.get("hooks"), where, f"hooks.{event}.hooks")
            found += [_hook(KINDS[event], str(matcher), hook, f"{where}: a hook for {event}") for hook in listed]
    return tuple(found)


def read_hooks_file(path: Path) -> tuple[Hook, ...]:
    """Those of a JSON file such as `.claude/settings.json`. Raises ConfigError."""
    try:
        said = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"hooks-file: {str(path)!r} cannot be read: {error}") from error
    return read_hooks(said.get("hooks", {}) if isinstance(said, dict) else said, str(path))


def _list(said: object, where: str, what: str) -> list[dict[str, object]]:
    if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
        raise ConfigError(f"{where}: {what} is no list of tables")
    return said


def _hook(kind: Kind, matcher: str, said: dict[str, object], what: str) -> Hook:
    if said.get("type", "command") != "command":
        raise ConfigError(f"{what} has the type {said['type']!r}; only 'command' is known")
    command, timeout = said.get("command"), said.get("timeout", TIMEOUT)
    if unknown := set(said) - {"type", "command", "timeout"}:
        raise ConfigError(f"{what} says {min(unknown)!r}, which is not known")
    if not isinstance(command, str) or isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise ConfigError(f"{what} needs a command (text), and perhaps a timeout (seconds)")
    return kind(command, "" if kind in _UNMATCHED else matcher, float(timeout))
