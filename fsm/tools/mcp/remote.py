"""A server's tool, as a tool of ours."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, cast

import attrs
import mcp_types as types
from mcp import Client, MCPError
from mcp_types import CONNECTION_CLOSED

from fsm.tools.returned import describe
from states.await_results import UNKNOWN
from states.ports import ToolOutput, ToolRun, ToolSpec
from states.records import JSON, Status

from .answers import output_of
from .connection import Connection, Down
from .server import MCPServer

KEY: Final = "interlock/key"
"""Where a call's idempotency key stands in the request's `_meta`, for servers that want to know."""
UNANSWERED: Final = (
    "Unknown: the server was asked and did not answer. It may have happened, in part or in full. Look at the state of "
    "things before you repeat it."
)
_LONGEST: Final = 64
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")


@attrs.frozen(eq=False)
class RemoteTool:
    """One tool of a connected server. `remote` is its name over there."""

    spec: ToolSpec
    remote: str
    connection: Connection = attrs.field(repr=False)
    leave: Callable[[str], Awaitable[None]] | None = None
    returns: Mapping[str, JSON] | None = None
    """What its structured content fits; its text may be other words for the same."""

    async def run(self, run: ToolRun) -> ToolOutput:
        """Ask the server. Its faults, and its death, are outputs; a cancellation reaches it as one."""
        try:
            client = await self.connection.up()
        except Down as down:
            return ToolOutput(Status.ERROR, f"Error: {down}. Not started; it is being started again.")
        try:
            result = await self._call(client, run)
        except TimeoutError:
            return self._lost(f"no answer and no progress for {self.connection.server.quiet_seconds:g} s")
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                self.connection.lose(client)
                return self._lost("the server ended while it ran; it is being started again")
            return ToolOutput(Status.ERROR, f"Error: {error.message}")
        except Exception as error:  # noqa: BLE001  a server that breaks the protocol must not leave a call unanswered
            self.connection.lose(client)
            return self._lost(describe(error))
        self.connection.worked()
        return output_of(result, self.returns)

    async def _call(self, client: Client, run: ToolRun) -> types.CallToolResult:
        quiet = self.connection.server.quiet_seconds
        clock = asyncio.get_running_loop()
        async with asyncio.timeout(quiet) as limit:

            async def progressed(progress: float, total: float | None, message: str | None) -> None:
                limit.reschedule(clock.time() + quiet)
                run.progress(message or (f"{progress:g} of {total:g}" if total else f"{progress:g}"))

            meta = cast(Any, {KEY: run.key})
            return await client.call_tool(self.remote, dict(run.arguments), progress_callback=progressed, meta=meta)

    def _lost(self, why: str) -> ToolOutput:
        """Asked, and not answered: unless repeating it does no harm, nobody knows what it did."""
        if self.spec.read_only or self.spec.idempotent:
            return ToolOutput(Status.ERROR, f"Error: {why}.")
        return ToolOutput(Status.UNKNOWN, f"{UNANSWERED} ({why})")

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        return ToolOutput(Status.UNKNOWN, UNKNOWN)


def remote_tools(connection: Connection) -> list[RemoteTool]:
    """The listed tools that the user wants, in the server's order."""
    server = connection.server
    wanted = [tool for tool in connection.listing if not server.tools or _any(server.tools, tool.name)]
    return [
        RemoteTool(
            _spec(server, tool), tool.name, connection, returns=cast("dict[str, JSON] | None", tool.output_schema)
        )
        for tool in wanted
    ]


def _spec(server: MCPServer, tool: types.Tool) -> ToolSpec:
    hints = (server.trust_annotations and tool.annotations) or types.ToolAnnotations()
    read_only = bool(hints.read_only_hint) or _any(server.read_only, tool.name)
    return ToolSpec(
        _name(server.name, tool.name),
        tool.description or tool.title or "",
        cast(dict[str, JSON], tool.input_schema),
        read_only=read_only,
        concurrency_safe=read_only,
        idempotent=bool(hints.idempotent_hint) or _any(server.idempotent, tool.name),
    )


def _any(patterns: Sequence[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _name(server: str, tool: str) -> str:
    """`mcp__server__tool`, with what providers do not take replaced; cut and changed names end in a digest."""
    plain = f"mcp__{server}__{_OTHER.sub('_', tool)}"
    if plain.endswith(f"__{tool}") and len(plain) <= _LONGEST:
        return plain
    digest = hashlib.sha256(tool.encode()).hexdigest()[:8]
    return f"{plain[: _LONGEST - len(digest) - 1]}_{digest}"
