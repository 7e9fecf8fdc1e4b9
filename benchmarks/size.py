"""Bytes that a journal takes after its checkpoint, next to the bytes of what was said."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fsm.journal.sqlite import SqliteJournal
from states.records import AssistantTurn, Entry, RunStarted, ToolResult, UserInput

from .figures import Figure
from .processes import OURS, Bench

LENGTHS: Final = (100, 1_000)


def _said(entries: list[Entry]) -> Iterator[str]:
    """Every word of the conversation once: prompts, texts, arguments, results."""
    for entry in entries:
        match entry.record:
            case RunStarted(system=text) | UserInput(text=text) | ToolResult(output=text):
                yield text
            case AssistantTurn(blocks=blocks):
                yield from (getattr(block, "text", "") or getattr(block, "arguments", "") for block in blocks)


async def _read(path: Path) -> list[Entry]:
    journal = SqliteJournal(path)
    try:
        return await journal.read("s0")
    finally:
        await journal.close()


def measure(bench: Bench, rounds: int) -> Iterator[Figure]:
    for turns in LENGTHS:
        path = bench.folder / f"size-{turns}.db"
        bench.run(OURS, turns, journal=path)
        wal = path.with_name(f"{path.name}-wal")
        stored = path.stat().st_size + (wal.stat().st_size if wal.exists() else 0)
        entries = asyncio.run(_read(path))
        content = sum(len(text.encode()) for text in _said(entries))
        yield Figure(f"{turns:,} turns: journal", (stored / 1024,), "KiB")
        yield Figure(f"{turns:,} turns: journal, a turn", (stored / turns,), "bytes")
        yield Figure(f"{turns:,} turns: what was said, a turn", (content / turns,), "bytes")
        yield Figure(f"{turns:,} turns: journal, times what was said", (stored / content,), "x")
        yield Figure(f"{turns:,} turns: records of a turn", (len(entries) / turns,))
