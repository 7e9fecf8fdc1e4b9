"""A real MCP server on the official SDK, for tests: `python mcp_server.py stdio LOG` or `... http LOG PORT`.

What happens to it is written to LOG, a line each.
"""

import os
import sys
from pathlib import Path

import anyio
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import ToolAnnotations

LOG = Path(sys.argv[2])
PIXEL = bytes.fromhex("89504e470d0a1a0a")

server = MCPServer("probe")


def note(line):
    with LOG.open("a") as file:
        file.write(f"{line}\n")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=ToolAnnotations(idempotent_hint=True))
def put(value: str) -> str:
    """Write a value down."""
    note(f"put {value}")
    return f"put {value}"


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Work until somebody says stop."""
    note("started")
    try:
        for step in range(steps):
            await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        note("waiting")
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        note("cancelled")
        raise
    return "never"


@server.tool()
def key(ctx: Context) -> str:
    """Say which key the call came with."""
    return str((ctx.request_context.meta or {}).get("interlock/key"))


@server.tool()
def die() -> str:
    """Die at once."""
    note("dying")
    os.write(2, b"a last word\n")
    os._exit(3)


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("no such thing")


@server.tool(structured_output=False)
def picture() -> list:
    """Show a picture."""
    return ["a pixel", Image(data=PIXEL, format="png")]


@server.tool(structured_output=False)
def environment(name: str) -> str:
    """Say what a variable of this process holds."""
    return os.environ.get(name, "not set")


@server.tool(structured_output=False)
def header(name: str, ctx: Context) -> str:
    """Say what a header of the request holds."""
    return (ctx.headers or {}).get(name, "not set")


@server.tool()
async def grow(ctx: Context) -> str:
    """Get another tool."""

    def grown() -> str:
        """Was not there before."""
        return "grown"

    server.add_tool(grown)
    await ctx.notify_tools_changed()
    return "grew"


@server.tool()
def boast() -> int:
    """Promise something else than it does."""
    note("boasted")
    return 3


@server.tool(structured_output=False)
def forget() -> str:
    """Promise data and send words."""
    return "words"


for liar in ("boast", "forget"):
    schema = {"type": "object", "properties": {"result": {"type": "string"}}}
    server._tool_manager.get_tool(liar).fn_metadata.output_schema = schema


if __name__ == "__main__":
    note(f"pid {os.getpid()}")
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[3]))
