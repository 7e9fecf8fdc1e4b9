"""The power goes at any moment of a run: whatever the disk may then hold, what was acknowledged is there and justified.

A short run of the real loop on a real store is recorded at SQLite's disk. For each moment before a sync, every legal
image of the disk (unsynced writes there or not, in any order, torn) is opened, read, folded and audited.
"""

import asyncio
import hashlib
import shutil
from pathlib import Path
from typing import Final

import attrs

from fsm.audit import audit
from fsm.graph import Graph
from fsm.journal.sqlite import SqliteJournal
from states.contract import Contract
from states.errors import JournalError, UnknownSession
from states.history import History
from states.ports import Claim, Draft, Journal
from states.records import Entry

from .broken import Broken
from .claims import STANDARD, gates_were_asked, passes_of
from .claims import Claim as Held
from .crash import Doings, Plan
from .deeds import MakeLoop
from .disk_images import Disk, Image
from .stage import StageClock, StageWorkspace
from .track import Track
from .watched_disk import Change, watched

FILE: Final = "run.db"
SESSION: Final = "cut"
TURNS: Final = 3
"""Turns with a call each: every commit of a longer run looks like one of these."""
STRIDE: Final = 8
"""Of so many images one is looked at in full (fold and audit); every one is opened and counted."""


@attrs.frozen
class Cut:
    """`images`: different states of the disk that were looked at. `commits`: acknowledged by the run."""

    images: int
    commits: int

    def __str__(self) -> str:
        return f"{self.images} images of the disk over {self.commits} commits, nothing acknowledged was lost"


@attrs.define(eq=False)
class _Acknowledged:
    """A journal that notes what was acknowledged, among the changes of the disk."""

    inner: Journal
    trace: list[Change | int]

    async def append(self, claim: Claim, drafts: list[Draft]) -> None:
        await self.inner.append(claim, drafts)
        self.trace.append(claim.next_seq - 1)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


def sweep(make_loop: MakeLoop, folder: Path, *, claims: tuple[Held, ...] = ()) -> Cut:
    """Cut the power at every moment of a run. Raises Broken, naming the moment.

    make_loop: takes provider, tools, journal, clock and workspace by name. folder: an empty one. claims: further ones.
    """
    (folder / "run").mkdir(parents=True)
    trace: list[Change | int] = []
    with watched(trace.append) as vfs:
        graph = asyncio.run(_record(make_loop, folder / "run", vfs, trace))
    disk, seen, promised = Disk(FILE), set[bytes](), 0
    for step in trace:
        if isinstance(step, int):
            promised = step
            continue
        if step.kind == "sync":
            for image in disk.images():
                key = hashlib.sha256(repr((sorted(image.items()), promised)).encode()).digest()
                if key in seen:
                    continue
                seen.add(key)
                whole = len(seen) % STRIDE == 0
                why = _look(image, folder / str(len(seen)), promised, graph if whole else None, claims)
                if why:
                    raise Broken("powerloss", f"image {len(seen)}, after {promised} acknowledged records: {why}")
        disk.step(step)
    return Cut(len(seen), sum(isinstance(step, int) for step in trace))


async def _record(make_loop: MakeLoop, home: Path, vfs: str, trace: list[Change | int]) -> Graph:
    journal = SqliteJournal(home / FILE, vfs=vfs)
    loop = make_loop(
        provider=Plan(TURNS),
        tools=Doings(home / "doings"),
        journal=_Acknowledged(journal, trace),
        clock=StageClock(),
        workspace=StageWorkspace(),
        contract=Contract(),  # as in `crash`: the scripted model has no evidence to give
    )
    async with loop:
        await loop.run("the task", session=SESSION)
    await journal.close()
    return loop.graph


def _look(image: Image, home: Path, promised: int, graph: Graph | None, claims: tuple[Held, ...]) -> str:
    """What is wrong with this state of the disk; empty if nothing is."""
    home.mkdir()
    for name, content in image.items():
        (home / name).write_bytes(content)
    try:
        entries = asyncio.run(_entries(home / FILE))
    except JournalError as error:
        return str(error)
    finally:
        shutil.rmtree(home)
    if len(entries) < promised:
        return f"only {len(entries)} of them are there"
    if graph is None or not entries:
        return ""
    track = Track(graph, (*STANDARD, gates_were_asked(passes_of(graph)), *claims), History(SESSION))
    for entry in entries:
        track.take(entry)
    open_end = "it is the last one, but"  # a move that was not written yet is due, not missing
    found = [*track.problems, *(said for said in audit(graph, entries, SESSION) if open_end not in said)]
    return found[0] if found else ""


async def _entries(path: Path) -> list[Entry]:
    journal = SqliteJournal(path)
    try:
        return await journal.read(SESSION)
    except UnknownSession:
        return []
    finally:
        await journal.close()
