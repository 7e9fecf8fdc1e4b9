"""What a user says about an MCP server. Nothing is started, and the SDK is not loaded, before a run needs it."""

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import attrs

from fsm.redact import SHORTEST
from states.errors import ConfigError

START_SECONDS: Final = 30.0
"""Seconds in which a server has to be up and to have listed its tools: our choice."""
QUIET_SECONDS: Final = 600.0
"""Seconds without an answer or a word of progress after which a call is given up: our choice."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL", re.IGNORECASE)
"""Names of variables whose values are never stored or shown."""


def _texts(value: Mapping[str, str]) -> dict[str, str]:
    return dict(value)


@attrs.frozen
class MCPServer:
    """An MCP server whose tools the model may call, as `mcp__NAME__TOOL`.

    Either `command` (with `args`, `env`, `cwd`): a program that is started and spoken to over its standard input and
    output. It gets HOME, PATH and the like, and `env`; no other variable of this process. Or `url` (with `headers`):
    streamable HTTP.

    tools: names or patterns such as "get_*" of the tools to offer; all if empty.
    read_only, idempotent: names or patterns of tools that you know to change nothing, or to be repeatable.
    trust_annotations: believe the server's own hints about that. They are only hints: without this, a call that was
        lost with a process is reported as unknown, and every call asks where permission is "ask".
    deferred: their schemas are sent only once the model has loaded them with `tool_search`; until then it sees names.
    start_seconds: for starting and listing. quiet_seconds: without an answer or progress, then a call is given up.

    Raises ConfigError for what cannot be a server.
    """

    name: str
    command: str = ""
    args: Sequence[str] = attrs.field(default=(), converter=tuple)
    env: Mapping[str, str] = attrs.field(factory=dict, converter=_texts, repr=False)
    cwd: str | Path | None = None
    url: str = ""
    headers: Mapping[str, str] = attrs.field(factory=dict, converter=_texts, repr=False)
    tools: Sequence[str] = attrs.field(default=(), converter=tuple)
    read_only: Sequence[str] = attrs.field(default=(), converter=tuple)
    idempotent: Sequence[str] = attrs.field(default=(), converter=tuple)
    trust_annotations: bool = False
    deferred: bool = False
    start_seconds: float = START_SECONDS
    quiet_seconds: float = QUIET_SECONDS

    def __attrs_post_init__(self) -> None:
        where = f"MCP server {self.name!r}"
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f"{where}: a name has 1 to 32 letters, digits, '_' or '-'")
        if bool(self.command) == bool(self.url):
            raise ConfigError(f"{where}: give either command=... (a program to start) or url=... (streamable HTTP)")
        if self.url and urlsplit(self.url).scheme not in ("http", "https"):
            raise ConfigError(f"{where}: {self.url!r} is no address; it begins with http:// or https://")
        if self.command and self.headers:
            raise ConfigError(f"{where}: headers are for a url; a program gets env")
        if self.url and (self.args or self.env or self.cwd):
            raise ConfigError(f"{where}: args, env and cwd are for a command; a url gets headers")
        for name in ("start_seconds", "quiet_seconds"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{where}: {name}={getattr(self, name)!r} is no time; give more than 0 seconds")

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must never be stored or shown: of headers, and of variables that are named like a secret."""
        values = [value for name, value in self.env.items() if _SECRET.search(name)]
        for value in self.headers.values():
            values += [value, value.rpartition(" ")[2]]  # without "Bearer"
        return tuple(dict.fromkeys(value for value in values if len(value) >= SHORTEST))


def check_installed() -> None:
    """Raises ConfigError without the extra."""
    if find_spec("mcp") is None:
        raise ConfigError("MCP servers need the extra `mcp`: pip install 'interlock[mcp]'")
