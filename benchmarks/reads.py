"""Turns with three slow reads, each complete while the answer still streams: one run, as a process of its own.

The server stands in the same process, on loopback, and takes its time: what counts is wall time, not CPU.
"""

import argparse
import asyncio
import json
import time
from typing import Final

from fsm import Budget, Loop, tool
from fsm.journal.sqlite import SqliteJournal
from fsm.providers import OpenAIChat

from .disk import CountedDisk
from .meter import METER
from .script import SYSTEM

READS: Final = 3
PACE: Final = 0.025
"""Seconds between two deltas of the text that follows the calls."""
DELTAS: Final = 10
HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


def _chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "model": "reads", "choices": [choice]}).encode() + b"\n\n"


def _call(index: int) -> bytes:
    function = {"name": "slow_read", "arguments": json.dumps({"key": str(index)})}
    return _chunk({"tool_calls": [{"index": index, "id": f"c{index}", "type": "function", "function": function}]})


class Server:
    """Answers `turns` times with calls and text, then with text alone."""

    def __init__(self, turns: int) -> None:
        self._turns = turns

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        body = await reader.readexactly(length)
        asks = body.count(b'"role":"tool"') < READS * self._turns
        writer.write(HEAD + _chunk({"role": "assistant", "content": ""}))
        for index in range(READS) if asks else ():
            writer.write(_call(index))
        for _ in range(DELTAS):
            await asyncio.sleep(PACE)
            writer.write(_chunk({"content": "and so on, "}))
            await writer.drain()
        writer.write(_chunk({}, "tool_calls" if asks else "stop") + b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()


async def _main(given: argparse.Namespace) -> None:
    @tool(read_only=True, concurrency_safe=True)
    async def slow_read(key: str) -> str:
        """Read something that takes its time."""
        await asyncio.sleep(given.latency)
        return f"read {key}"

    server = await asyncio.start_server(Server(given.turns).serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    disk = CountedDisk()
    loop = Loop(
        provider=OpenAIChat("reads", f"http://127.0.0.1:{port}/v1", api_key="k"),
        tools=[slow_read],
        journal=SqliteJournal(given.journal, vfs=disk.name),
        budget=Budget(max_turns=None),
        system=SYSTEM,
        prestart=["slow_read"] if given.prestart else [],
    )
    async with server, loop:
        began = time.monotonic()
        result = await loop.run("Read all that there is.")
        METER.extra["wall"] = time.monotonic() - began
    if not result.succeeded:
        raise SystemExit(f"the run did not succeed: {result.reason}: {result.message}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--journal", required=True)
    parser.add_argument("--turns", type=int, required=True)
    parser.add_argument("--latency", type=float, required=True, help="seconds that one read takes")
    parser.add_argument("--prestart", action="store_true")
    asyncio.run(_main(parser.parse_args()))
    METER.report()
