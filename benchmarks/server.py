"""A scripted chat completions server: loopback, unpaced, one send for each chunk, hardly any parsing.

The turn is told from the request (tool messages + 1), the conversation's length from the model's name, `bench-N`:
turn N ends it. A request of `bench-N-hang` for turn N is never answered: its arrival is printed.
"""

import asyncio
import json
import re
import sys
import time
from functools import lru_cache
from typing import Final

from .script import deltas

_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
)
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_MODEL: Final = re.compile(rb'"model": ?"bench-(\d+)(-hang)?"')
_STAMP: Final = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "bench"}
_USAGE: Final = {"prompt_tokens": 1_000, "completion_tokens": 200, "total_tokens": 1_200}


def _frame(data: str) -> bytes:
    event = f"data: {data}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


def _chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _frame(json.dumps({**_STAMP, "choices": [choice]}, separators=(",", ":")))


_TAIL: Final = (
    _frame(json.dumps({**_STAMP, "choices": [], "usage": _USAGE}, separators=(",", ":")))
    + _frame("[DONE]")
    + b"0\r\n\r\n"
)


@lru_cache(maxsize=4096)
def _answer(turn: int, *, final: bool) -> tuple[bytes, ...]:
    said = (_chunk(delta) for delta in deltas(turn, final=final))
    return (_HEAD, *said, _chunk({}, "stop" if final else "tool_calls"), _TAIL)


class _Connection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._body: list[bytes] | None = None
        self._head = b""
        self._missing = 0

    def data_received(self, data: bytes) -> None:
        if self._body is None:
            self._head += data
            head, blank, rest = self._head.partition(b"\r\n\r\n")
            if not blank:
                return
            length = _LENGTH.search(head)
            self._missing, self._body, self._head = int(length[1]) if length else 0, [], b""
            data = rest
        self._body.append(data)
        self._missing -= len(data)
        if self._missing <= 0:
            body, self._body = b"".join(self._body), None
            self._reply(body)

    def _reply(self, body: bytes) -> None:
        arrived = time.monotonic()
        model = _MODEL.search(body)
        last = int(model[1]) if model else 1
        turn = body.count(b'"role":"tool"') + 1
        if model and model[2] and turn >= last:
            print(json.dumps({"arrived": arrived, "turn": turn, "bytes": len(body)}), flush=True)
            return
        for piece in _answer(turn, final=turn >= last):
            self._transport.write(piece)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "127.0.0.1", 0, backlog=1_024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)  # whoever started us holds it open


if __name__ == "__main__":
    asyncio.run(_serve())
