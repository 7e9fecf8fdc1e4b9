"""The least that this work can cost with httpx: no framework, each message encoded once; with or without a store.

`cached` is the floor. `cached+commits` adds three durable SQLite commits a turn: answer, call started, result.
"""

import argparse
import asyncio
import json
import sqlite3
from typing import Final

import httpx

from .meter import METER
from .options import options
from .script import KEY, SYSTEM, TASK, TOOL, TOOL_DESCRIPTION, echoed

_PARAMETERS: Final = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_TOOLS: Final = [
    {"type": "function", "function": {"name": TOOL, "description": TOOL_DESCRIPTION, "parameters": _PARAMETERS}}
]


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


class _Nothing:
    """Keeps nothing."""

    def put(self, kind: str, body: bytes) -> None:
        pass

    def load(self) -> list[bytes]:
        return []


class _Store:
    """Rows of one session in SQLite: WAL, synchronous=FULL, a commit for each."""

    def __init__(self, path: str, session: str) -> None:
        self._session = session
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=wal")
        self._db.execute("PRAGMA synchronous=full")
        self._db.execute("CREATE TABLE IF NOT EXISTS row(id INTEGER PRIMARY KEY, session TEXT, kind TEXT, body BLOB)")

    def put(self, kind: str, body: bytes) -> None:
        self._db.execute("INSERT INTO row(session, kind, body) VALUES (?, ?, ?)", (self._session, kind, body))

    def load(self) -> list[bytes]:
        query = "SELECT body FROM row WHERE session = ? AND kind = 'message' ORDER BY id"
        return [body for (body,) in self._db.execute(query, (self._session,))]


class _Fold:
    """One streamed answer under way."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._text: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}

    def feed(self, piece: bytes) -> None:
        self._buffer += piece
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            if line.startswith(b"data: ") and line != b"data: [DONE]":
                self._take(json.loads(line[6:]))

    def _take(self, chunk: dict) -> None:
        for choice in chunk["choices"]:
            delta = choice["delta"]
            if delta.get("content"):
                self._text.append(delta["content"])
            for piece in delta.get("tool_calls") or ():
                call = self._calls.setdefault(piece["index"], {"id": "", "name": "", "arguments": ""})
                call["id"] = piece.get("id") or call["id"]
                function = piece.get("function") or {}
                call["name"] = function.get("name") or call["name"]
                call["arguments"] += function.get("arguments") or ""

    def message(self) -> dict:
        message: dict = {"role": "assistant", "content": "".join(self._text)}
        if self._calls:
            message["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for call in self._calls.values()
            ]
        return message


async def _session(url: str, model: str, store: _Store | _Nothing) -> None:
    options = {"model": model, "stream": True, "stream_options": {"include_usage": True}, "tools": _TOOLS}
    head = _dump(options)[:-1] + b',"messages":['
    messages = store.load()

    def keep(message: dict) -> None:
        body = _dump(message)
        messages.append(body)
        store.put("message", body)

    if not messages:
        keep({"role": "system", "content": SYSTEM})
        keep({"role": "user", "content": TASK})
    async with httpx.AsyncClient(base_url=url, timeout=None, verify=False) as client:
        while True:
            fold = _Fold()
            body = head + b",".join(messages) + b"]}"
            headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
            async with client.stream("POST", "/chat/completions", content=body, headers=headers) as response:
                response.raise_for_status()
                async for piece in response.aiter_raw():
                    fold.feed(piece)
            message = fold.message()
            keep(message)
            if "tool_calls" not in message:
                return
            for call in message["tool_calls"]:
                asked = json.loads(call["function"]["arguments"])
                store.put("started", _dump({"id": call["id"]}))
                METER.mark()
                keep({"role": "tool", "tool_call_id": call["id"], "content": echoed(asked["text"])})


async def _main(given: argparse.Namespace) -> None:
    names = [f"s{number}" for number in range(given.sessions)]
    stores = [_Store(given.journal, name) if given.commits else _Nothing() for name in names]
    await asyncio.gather(*(_session(given.url, given.model, store) for store in stores))


if __name__ == "__main__":
    given = options()
    METER.begin(announce=given.announce)
    asyncio.run(_main(given))
    METER.report()
