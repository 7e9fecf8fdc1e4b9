"""The way to a server, through the official SDK: a program's standard streams, or streamable HTTP."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from .server import MCPServer
from .stderr import LastWords

Streams = tuple[Any, Any]
"""What the SDK's transports yield: a stream of incoming and one of outgoing messages."""
_WAIT: Final = 30.0
"""Seconds for connecting and sending over HTTP (the SDK's own); answers may take as long as the caller lets them."""


@asynccontextmanager
async def program(server: MCPServer, words: LastWords, ended: Callable[[], None]) -> AsyncGenerator[Streams, None]:
    """Start it and speak to it; `ended` is called when it will not answer any more. It is stopped at the end."""
    parameters = StdioServerParameters(
        command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd
    )
    async with stdio_client(parameters, errlog=words.file) as (incoming, outgoing):
        words.file.close()  # the server has its own end: when it is gone, the pipe ends
        send, receive = anyio.create_memory_object_stream[Any](0)

        async def pump() -> None:
            async with send:
                async for message in incoming:
                    await send.send(message)
            ended()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pump)
            try:
                yield receive, outgoing
            finally:
                tasks.cancel_scope.cancel()
        await receive.aclose()


@asynccontextmanager
async def address(server: MCPServer) -> AsyncGenerator[Streams, None]:
    timeout = httpx2.Timeout(_WAIT, read=None)
    async with (
        httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams
