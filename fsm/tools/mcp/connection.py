"""One server, kept alive: started, listened to, and started again with growing pauses when it dies."""

import asyncio
import logging
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any, Final

import anyio
import mcp_types as types
from mcp import Client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from fsm.redact import Redactor

from .server import MCPServer
from .stderr import LastWords
from .wire import address, program

FIRST_PAUSE: Final = 0.5
"""Seconds before a restart, doubled each time (our choice); a server that had worked is started again at once."""
LONGEST_PAUSE: Final = 30.0
_PAGES: Final = 100
"""Pages of a listing that are read (the SDK's own cap)."""

_log: Final = logging.getLogger("fsm.tools.mcp")
_log.addHandler(logging.NullHandler())


class Down(Exception):
    """The server cannot be asked now, in words for the model. Nothing was sent."""


class Connection:
    """A server within one event loop. A task of its own holds the SDK's client, since its scopes belong to one task."""

    def __init__(self, server: MCPServer) -> None:
        self.server = server
        self.listing: tuple[types.Tool, ...] = ()
        self.stale = False
        """The server said that its tools have changed."""
        self.changed = False
        """They were listed anew, and nobody has looked since."""
        self._client: Client | None = None
        self._tried = asyncio.Event()
        self._lost = asyncio.Event()
        self._failures = 0
        self._fault = ""
        self._was_up = False
        self._task = asyncio.create_task(self._keep(), name=f"mcp {server.name}")

    async def up(self) -> Client:
        """The client, as soon as there is one. Raises Down while the server is being waited for."""
        await self._tried.wait()
        if self._client is None:
            raise Down(f"the MCP server {self.server.name!r} is down ({self._fault})")
        return self._client

    def lose(self, client: Client) -> None:
        """It did not answer as a living server does: start it again."""
        if client is self._client:
            self._end()

    def worked(self) -> None:
        """A call was answered: the next failure is a first one."""
        self._failures = 0

    async def relist(self) -> None:
        """Ask for the tools again. What a dying server does not say stays as it was."""
        self.stale = False
        try:
            client = await self.up()
            async with asyncio.timeout(self.server.start_seconds):
                self.listing, self.changed = await _listed(client), True
        except Exception as error:  # noqa: BLE001  the call that needs it will tell
            _log.info("MCP server %s did not list its tools: %s", self.server.name, error)

    async def close(self) -> None:
        """Stop it; a program gets two seconds after the end of its input, then SIGTERM, then SIGKILL (SDK's rule)."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    # --- the task ---------------------------------------------------------------------------------------------------

    async def _keep(self) -> None:
        while True:
            words = LastWords()
            begun, self._was_up = self._failures, False
            try:
                await self._serve(words)
                self._fault = "it ended"
            except Exception as error:  # noqa: BLE001  whatever the SDK or the server does, the next call is answered
                self._fault = _said(error)
            finally:
                words.close()
            await asyncio.to_thread(words.join)
            if words.text:
                self._fault += f"; its last words: {words.text}"
            self._fault = Redactor(self.server.secrets).text(self._fault)
            self._failures += 1
            at_once = begun == 0 and self._was_up
            pause = 0.0 if at_once else min(LONGEST_PAUSE, FIRST_PAUSE * 2**self._failures / 2)
            _log.info("MCP server %s is down (%s); again in %g s", self.server.name, self._fault, pause)
            if pause:
                self._tried.set()
                await asyncio.sleep(pause)
            self._tried.clear()

    def _end(self) -> None:
        """Whoever asks from now on waits for the next one."""
        self._client = None
        self._tried.clear()
        self._lost.set()

    async def _serve(self, words: LastWords) -> None:
        """Until it is lost. Raises whatever went wrong on the way."""
        self._lost.clear()
        try:
            async with asyncio.timeout(self.server.start_seconds) as limit, AsyncExitStack() as stack:
                wire = program(self.server, words, self._end) if self.server.command else address(self.server)
                client = await stack.enter_async_context(
                    Client(wire, message_handler=self._heard, cache=None, client_info=_OURSELVES)
                )
                client.session.validate_tool_result = _as_it_is  # type: ignore[method-assign]
                listener = await stack.enter_async_context(anyio.create_task_group())
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS and _announces(client):
                    listener.start_soon(self._listen, client)
                self.listing, self.changed = await _listed(client), True
                limit.reschedule(None)
                self._client, self._was_up = client, True
                self._tried.set()
                await self._lost.wait()
                listener.cancel_scope.cancel()
        except TimeoutError:
            raise TimeoutError(f"it was not ready within {self.server.start_seconds:g} s") from None
        finally:
            self._client = None

    async def _heard(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.stale = True

    async def _listen(self, client: Client) -> None:
        """Protocols since 2026-07-28 say what has changed only to those who ask for it."""
        listening = False
        try:
            async with client.listen(tools_list_changed=True) as changes:
                listening = True
                async for _ in changes:
                    self.stale = True
        except Exception as error:  # noqa: BLE001  without it, the tools stay as they were listed
            _log.info("MCP server %s does not tell of changes: %s", self.server.name, error)
            if listening:  # it was there, and is not any more
                self.lose(client)


_OURSELVES: Final = types.Implementation(name="interlock", version=version("interlock"))


async def _as_it_is(name: str, result: types.CallToolResult) -> None:
    """The SDK would raise over a result that its schema does not fit, and drop it: `answers` says what came instead."""


def _announces(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return bool(tools and tools.list_changed)


async def _listed(client: Client) -> tuple[types.Tool, ...]:
    tools: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(tools)


def _said(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_said(one) for one in error.exceptions)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
