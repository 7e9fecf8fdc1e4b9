"""A scripted chat completions server on loopback, for tests: raw bytes in, raw bytes out, every request kept.

In a test:

    with ChatServer([calls_turn([("lookup", {"key": "a"})]), text_turn("done")]) as server:
        OpenAIChat("m", server.url, api_key="k")

As a process that survives the one under test (it prints its URL; SCRIPT.json is a list of turns, see `from_json`):

    python tests/support/chat_server.py SCRIPT.json [--log REQUESTS.ndjson] [--port N]

A list of turns is indexed by the number of assistant messages in the request, so that a resumed or repeated run
continues at the right place. A function(request, n) decides by itself; n counts the requests from 0.
"""

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

import attrs

CUT: Final = "cut"
"""In place of a chunk: drop the connection."""
HANG: Final = "hang"
"""In place of a chunk: send nothing more until the client goes away."""

Piece = bytes | float | str
"""A chunk of the body; or seconds to pause; or CUT or HANG."""
DONE: Final = b"data: [DONE]\n\n"
EVENT_STREAM: Final = {"content-type": "text/event-stream"}


@attrs.frozen
class Response:
    """One answer. With `raw`, the pieces are the whole HTTP response, status line and all."""

    pieces: Sequence[Piece]
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=lambda: dict(EVENT_STREAM))
    raw: bool = False


Turn = Response | Sequence[Piece]
Script = Callable[[dict[str, Any], int], Turn] | Sequence[Turn]


# --- turns ------------------------------------------------------------------------------------------------------


def event(payload: object) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One event of a chat completion stream. Without a delta it has no choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return event(
        {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "scripted", "choices": choices} | more
    )


def usage(sent: int = 10, received: int = 5) -> bytes:
    return chunk(usage={"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received})


def text_turn(text: str, finish: str = "stop", size: int = 8) -> list[Piece]:
    """An answer in words, streamed in pieces of `size` characters."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    start = chunk({"role": "assistant", "content": ""})
    return [start, *(chunk({"content": piece}) for piece in pieces), chunk({}, finish), usage(), DONE]


def calls_turn(
    calls: Sequence[tuple[str, Any]], text: str = "", finish: str = "tool_calls", ids: Sequence[str] | None = None
) -> list[Piece]:
    """An answer with calls. Arguments that are no string are sent as their JSON, in two fragments."""
    pieces: list[Piece] = [chunk({"role": "assistant", "content": text or None})]
    for index, (name, arguments) in enumerate(calls):
        sent = arguments if isinstance(arguments, str) else json.dumps(arguments)
        half = len(sent) // 2
        start = {"index": index, "id": ids[index] if ids else f"call_{index}", "type": "function"}
        pieces.append(chunk({"tool_calls": [start | {"function": {"name": name, "arguments": sent[:half]}}]}))
        pieces.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": sent[half:]}}]}))
    return [*pieces, chunk({}, finish), usage(), DONE]


def error(status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None) -> Response:
    """An error as OpenAI words it."""
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}})
    return Response([body.encode()], status, {"content-type": "application/json"} | (headers or {}))


def from_json(turn: Any) -> Turn:
    """A turn of a script file.

    {"text": T, "finish": F}, {"calls": [[NAME, ARGUMENTS], ...], "text": T}, {"status": N, "message": T, "code": C};
    "pause": SECONDS before each chunk, "cut": N or "hang": N after N chunks.
    """
    if "status" in turn:
        return error(turn["status"], turn.get("message", "scripted"), turn.get("code"), turn.get("headers"))
    if "calls" in turn:
        pieces = calls_turn([(name, arguments) for name, arguments in turn["calls"]], turn.get("text", ""))
    else:
        pieces = text_turn(turn["text"], turn.get("finish", "stop"))
    for end in (CUT, HANG):
        if end in turn:
            pieces = [*pieces[: turn[end]], end]
    if pause := turn.get("pause"):
        pieces = [item for piece in pieces for item in (float(pause), piece)]
    return pieces


# --- what OpenAI refuses ----------------------------------------------------------------------------------------


def complaint(body: dict[str, Any]) -> str | None:
    """Why OpenAI, or a stricter server, would answer 400: calls and results are not paired exactly once in order."""
    open_calls: list[str] = []
    for place, message in enumerate(body.get("messages", [])):
        role = message.get("role")
        where = f"messages[{place}]"
        if role == "tool":
            if not open_calls or message.get("tool_call_id") != open_calls.pop(0):
                return f"{where}: role 'tool' must answer the calls of the preceding message, in order, once each"
            if not isinstance(message.get("content"), str) or not message["content"]:
                return f"{where}: content of a tool message must be a non-empty string"
            continue
        if open_calls:
            return f"{where}: 'tool_calls' must be followed by tool messages; no answer to {', '.join(open_calls)}"
        if role == "assistant":
            calls = message.get("tool_calls") or []
            open_calls = [call.get("id") for call in calls]
            if len(set(open_calls)) < len(open_calls) or not all(open_calls):
                return f"{where}: duplicate or empty tool call id"
            if not calls and not message.get("content"):
                return f"{where}: content must be a string where there are no tool_calls"
            for call in calls:
                if not isinstance(call["function"]["arguments"], str):
                    return f"{where}: arguments must be a string"
        elif not isinstance(message.get("content"), str):
            return f"{where}: content must be a string"
    return f"no answer to {', '.join(open_calls)}" if open_calls else None


def assistant_messages(body: dict[str, Any]) -> int:
    return sum(message.get("role") == "assistant" for message in body.get("messages", []))


# --- the server -------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class ChatServer:
    """Runs in its own thread while the `with` block lasts. `strict` answers 400 to what `complaint` objects to."""

    script: Script
    strict: bool = True
    log: Path | None = None
    port: int = 0
    requests: list[dict[str, Any]] = attrs.field(factory=list)
    """Bodies, in the order in which they came."""
    headers: list[dict[str, str]] = attrs.field(factory=list)
    bodies: list[bytes] = attrs.field(factory=list)
    connections: int = 0
    """Connections that were ever made."""
    open: int = 0
    """Connections that are open now."""
    hung_up: threading.Event = attrs.field(factory=threading.Event)
    """Set when a client went away in the middle of an answer."""
    _ready: threading.Event = attrs.field(factory=threading.Event)
    _loop: asyncio.AbstractEventLoop | None = None
    _stop: asyncio.Event | None = None
    _thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10), "the scripted server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop
        assert self._stop
        assert self._thread
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def serve(self) -> None:
        """Until `__exit__`, or until the task is cancelled."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        handlers: set[asyncio.Task[None]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            handlers.add(task)
            self.connections += 1
            self.open += 1
            try:
                with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                    while await self._exchange(reader, writer):
                        pass
            finally:
                self.open -= 1
                handlers.discard(task)
                writer.transport.abort()

        server = await asyncio.start_server(accept, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        try:
            await self._stop.wait()
        finally:
            server.close()
            for task in handlers:
                task.cancel()
            await asyncio.gather(*handlers, return_exceptions=True)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        response = self._answer(headers, raw)
        if not response.raw:
            lines = [f"HTTP/1.1 {response.status} Scripted", "transfer-encoding: chunked"]
            lines += [f"{name}: {value}" for name, value in response.headers.items()]
            writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            for piece in response.pieces:
                if piece == CUT:
                    return False
                if isinstance(piece, bytes):
                    writer.write(piece if response.raw else b"%x\r\n%b\r\n" % (len(piece), piece))
                    await writer.drain()
                    continue
                await asyncio.wait([gone], timeout=None if piece == HANG else float(piece))
                if gone.done():
                    self.hung_up.set()
                    return False
        finally:
            if not gone.done():
                gone.cancel()
                await asyncio.wait([gone])
        if not response.raw:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return not response.raw

    def _answer(self, headers: dict[str, str], raw: bytes) -> Response:
        body = json.loads(raw)
        number = len(self.requests)
        self.requests.append(body)
        self.headers.append(headers)
        self.bodies.append(raw)
        if self.log is not None:
            with self.log.open("ab") as log:
                log.write(raw + b"\n")
        if self.strict and (objection := complaint(body)):
            return error(400, objection)
        if callable(self.script):
            turn = self.script(body, number)
        else:
            place = assistant_messages(body)
            if place >= len(self.script):
                return error(400, f"the script has {len(self.script)} turns; the request asks for number {place + 1}")
            turn = self.script[place]
        return turn if isinstance(turn, Response) else Response(turn)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("script", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    turns = [from_json(turn) for turn in json.loads(options.script.read_text())]
    with suppress(KeyboardInterrupt), ChatServer(turns, log=options.log, port=options.port) as server:
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
