"""The power goes at any moment of a short run: whatever the disk then holds, what was acknowledged is there."""

import hashlib

import pytest
from journal.kit import batch, run, texts

from fsm.checks.disk_images import Disk
from fsm.checks.watched_disk import Change, watched
from fsm.journal import opening
from fsm.journal.sqlite import SqliteJournal
from states.errors import JournalError, UnknownSession

MAIN = "runs.db"


async def record(path, vfs, trace):
    """A run whose acknowledgements are in the trace, with checkpoints and two openings."""
    for opened in range(2):
        journal = SqliteJournal(path, vfs=vfs)
        claim = await journal.claim("s", create=True)
        trace.append(("claimed", claim.fence))
        for number in range(5):
            await journal.append(claim, batch(claim, f"{opened}.{number} " + "x" * 900, "y" * 900))
            trace.append(("acknowledged", claim.next_seq - 1))
        if opened == 0:
            await journal.post("s", "note")
            trace.append(("posted", 1))
        await journal.close()


def sweep(trace, home):
    """Every image once: how many there were, and what was wrong with which."""
    disk, seen, complaints = Disk(MAIN), set(), []
    promised = {"claimed": 0, "acknowledged": 0, "posted": 0}
    for change in trace:
        if not isinstance(change, Change):
            what, number = change
            promised[what] = number
        elif change.kind != "sync":
            disk.step(change)
            continue
        for image in disk.images():
            key = hashlib.sha256(repr((sorted(image.items()), promised)).encode()).digest()
            if key not in seen:
                seen.add(key)
                if complaint := run(look(image, home / str(len(seen)), promised, write_on=len(seen) % 10 == 0)):
                    complaints.append(complaint)
        if isinstance(change, Change) and change.kind == "sync":
            disk.step(change)
    return len(seen), complaints


async def look(image, home, promised, *, write_on):
    home.mkdir()
    for name, content in image.items():
        (home / name).write_bytes(content)
    journal = SqliteJournal(home / MAIN)
    try:
        try:
            entries = await journal.read("s")
            (info,) = await journal.sessions()
            found = {"claimed": info.fence, "acknowledged": len(entries), "posted": len(await journal.notes("s", 0))}
        except UnknownSession:
            found = dict.fromkeys(promised, 0)
        except JournalError as error:
            return str(error)
        if any(found[what] < promised[what] for what in promised) or found["acknowledged"] % 2:
            return f"promised {promised}, found {found}"
        if write_on:
            claim = await journal.claim("s", create=True)
            await journal.append(claim, batch(claim, "on"))
            assert texts(await journal.read("s"))[-1] == "on"
    finally:
        await journal.close()
    return ""


@pytest.fixture
def trace(fast_home, monkeypatch):
    monkeypatch.setattr(opening, "CHECKPOINT", 12)  # so that a short run has some
    changes = []
    (fast_home / "run").mkdir()
    with watched(changes.append) as vfs:
        run(record(fast_home / "run" / MAIN, vfs, changes))
    return changes


def test_no_image_lacks_what_was_acknowledged(trace, fast_home):
    assert trace.count(Change("sync", MAIN)) >= 2, "no checkpoint in the run"
    images, complaints = sweep(trace, fast_home)
    assert complaints == []
    assert images > 300, images


def test_the_sweep_finds_a_disk_that_does_not_sync_the_wal(trace, fast_home):
    honest = len(trace)
    lazy = [change for change in trace if change != Change("sync", MAIN + "-wal")]
    assert len(lazy) < honest
    cut = next(i for i, change in enumerate(lazy) if change == ("acknowledged", 4)) + 1
    _, complaints = sweep(lazy[:cut], fast_home)
    assert any("promised" in complaint for complaint in complaints)
    assert any("damaged" in complaint for complaint in complaints)
