"""A server as a source of tools for a toolbox: connected before a run begins, asked again when its tools change."""

import asyncio
from collections.abc import Sequence

from states.errors import ConfigError

from .connection import Connection, Down
from .remote import RemoteTool, remote_tools
from .server import MCPServer, check_installed


class MCPSource:
    """Implements `fsm.tools.source.Source`."""

    def __init__(self, server: MCPServer) -> None:
        check_installed()
        self.server = server
        self._connection: Connection | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def secrets(self) -> Sequence[str]:
        return self.server.secrets

    @property
    def tools(self) -> Sequence[RemoteTool]:
        return remote_tools(self._connection) if self._connection else []

    async def open(self) -> bool:
        """Connect, if this event loop is not connected yet. Raises ConfigError if the server does not come up."""
        if self._connection is not None and self._loop is asyncio.get_running_loop():
            return False
        self._loop = asyncio.get_running_loop()
        self._connection = connection = Connection(self.server)
        try:
            await connection.up()
        except Down as down:
            await self.close()
            raise ConfigError(f"{down}; mend how it is started, or leave it out") from None
        except asyncio.CancelledError:
            await self.close()
            raise
        self._check_names(connection)
        connection.changed = False
        return True

    async def refresh(self) -> bool:
        connection = self._connection
        if connection is None:
            return False
        if connection.stale:
            await connection.relist()
        changed, connection.changed = connection.changed, False
        return changed

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._loop is asyncio.get_running_loop():
            await connection.close()

    def _check_names(self, connection: Connection) -> None:
        """A name that the user spelled out and the server does not have is a mistake."""
        there = [tool.name for tool in connection.listing]
        for field in ("tools", "read_only", "idempotent"):
            for name in getattr(self.server, field):
                if not any(sign in name for sign in "*?[") and name not in there:
                    raise ConfigError(
                        f"MCP server {self.server.name!r} has no tool {name!r} ({field}=...); it has {', '.join(there)}"
                    )
