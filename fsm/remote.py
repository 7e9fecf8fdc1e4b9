"""The tools of MCP servers, beside a loop's own."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from states.errors import ConfigError
from states.ports import Toolbox

from .offered import LATER

if TYPE_CHECKING:
    from .tools import MCPServer


def parted(tools: Iterable[object] | Toolbox) -> "tuple[Iterable[object] | Toolbox, list[MCPServer]]":
    """The tools without the servers among them, and those."""
    if hasattr(tools, "complaint"):  # a whole toolbox of the caller's own
        return tools, []
    from .tools import MCPServer

    given = list(tools)
    servers = [item for item in given if isinstance(item, MCPServer)]
    return [item for item in given if not isinstance(item, MCPServer)], servers


def with_servers(own: Toolbox, servers: "list[MCPServer]") -> Toolbox:
    """The tools of both; servers are connected when a run needs them.

    Raises ConfigError for two servers of one name, or without the extra `mcp`.
    """
    if not servers:
        return own
    names = [server.name for server in servers]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"two MCP servers are called {twice!r}; their tools could not be told apart")
    from .tools import Tools
    from .tools.compose import joined
    from .tools.mcp.source import MCPSource

    return joined(own, Tools([], sources=[MCPSource(server) for server in servers]))


def names_of_deferred(servers: "list[MCPServer]") -> tuple[str, ...]:
    """Patterns for the tools of servers that defer theirs, which may not be known yet."""
    return tuple(f"{LATER}{server.name}__*" for server in servers if server.deferred)
