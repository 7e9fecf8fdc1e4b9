"""MCP servers as a workspace's `interlock.toml` names them: `[mcp.NAME]` with `command` or `url`."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from states.errors import ConfigError

from .server import MCPServer

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
"""`${NAME}`, or `${NAME:-instead}` (the form of Claude Code's `.mcp.json`)."""


def read_servers(said: object, where: str, root: Path, environment: Mapping[str, str]) -> tuple[MCPServer, ...]:
    """The servers of the table `mcp`. A program without `cwd` is started in `root`, the workspace.

    `${NAME}` in the texts is a variable of `environment`, so that no secret has to stand in the file.
    Raises ConfigError, naming the server and the key.
    """
    if not isinstance(said, dict) or not all(isinstance(table, dict) for table in said.values()):
        raise ConfigError(f'{where}: mcp takes a table for each server: [mcp.NAME] with command = "..." or url = "..."')
    return tuple(_server(name, table, f"{where}: [mcp.{name}]", root, environment) for name, table in said.items())


def _server(
    name: str, table: Mapping[str, object], where: str, root: Path, environment: Mapping[str, str]
) -> MCPServer:
    given: dict[str, object] = {}
    for key, value in table.items():
        if key not in _KEYS:
            raise ConfigError(f"{where}: unknown setting {key!r}; known: {', '.join(_KEYS)}")
        wanted, fits = _KEYS[key]
        if not fits(value):
            raise ConfigError(f"{where}: {key} = {value!r} will not do; it takes {wanted}")
        given[key.replace("-", "_")] = _filled(value, f"{where}: {key}", environment)
    if "url" not in given:
        given["cwd"] = root / str(given.get("cwd", "."))
    return MCPServer(name, **given)  # type: ignore[arg-type]  # every value was checked against its key


def _filled(value: object, where: str, environment: Mapping[str, str]) -> object:
    """The value, with the variables that it names. Raises ConfigError for one that is not set."""

    def variable(found: "re.Match[str]") -> str:
        name, instead = found[1], found[2]
        if name in environment:
            return environment[name]
        if instead is None:
            raise ConfigError(f"{where}: the variable {name} is not set; set it, or write ${{{name}:-something}}")
        return instead

    if isinstance(value, str):
        return _VARIABLE.sub(variable, value)
    if isinstance(value, list):
        return [_filled(item, where, environment) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, where, environment) for key, item in value.items()}
    return value


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _truth(value: object) -> bool:
    return isinstance(value, bool)


def _seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_Form = tuple[str, Callable[[object], bool]]
_TEXT: Final[_Form] = ("text in quotes", _text)
_LIST: Final[_Form] = ('a list such as ["search", "get_*"]', _texts)
_TABLE: Final[_Form] = ('a table such as { NAME = "value" }', _table)

_KEYS: Final[Mapping[str, _Form]] = {
    "command": _TEXT,
    "args": _LIST,
    "env": _TABLE,
    "cwd": _TEXT,
    "url": _TEXT,
    "headers": _TABLE,
    "tools": _LIST,
    "read-only": _LIST,
    "idempotent": _LIST,
    "trust-annotations": ("true or false", _truth),
    "deferred": ("true or false", _truth),
    "start-seconds": ("a number of seconds", _seconds),
    "quiet-seconds": ("a number of seconds", _seconds),
}
"""Names are those of `MCPServer`'s fields."""
