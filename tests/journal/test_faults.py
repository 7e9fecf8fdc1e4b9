"""Disks that fail: before the commit nothing was written, at the commit nobody knows, and nothing is lost."""

import asyncio
import signal
import sys
from itertools import pairwise

import apsw
import pytest
from journal.disks import Faults, disk_full, io_error
from journal.kit import batch, python, run, texts

from fsm.checks.watched_disk import watched
from fsm.journal.sqlite import SqliteJournal
from states.errors import CommitFailed, JournalUnusable


@pytest.fixture
def path(fast_home):
    return fast_home / "runs.db"


@pytest.fixture
def faults():
    return Faults()


def test_a_commit_that_raises_stops_the_journal_and_rereading_decides(path, faults):
    with watched(faults) as vfs:

        async def main():
            journal = SqliteJournal(path, vfs=vfs)
            claim = await journal.claim("s", create=True)
            other = await journal.claim("t", create=True)
            await journal.append(claim, batch(claim, "safe"))
            faults.arm("sync", io_error())
            with pytest.raises(CommitFailed, match="Open the journal anew"):
                await journal.append(claim, batch(claim, "unknown"))
            assert claim.next_seq == 2
            for call in (
                journal.append(claim, batch(claim, "again")),
                journal.append(other, batch(other, "of another session")),
                journal.confirm(claim),
                journal.read("s"),
                journal.post("s", "x"),
                journal.sessions(),
                journal.claim("s"),
            ):
                with pytest.raises(CommitFailed, match="Open the journal anew"):
                    await call
            again = SqliteJournal(path, vfs=vfs)  # the old one is not even closed
            resumed = await again.claim("s")
            assert texts(await again.read("s")) in (["safe"], ["safe", "unknown"])
            await again.append(resumed, batch(resumed, "on"))
            assert [entry.seq for entry in await again.read("s")] == list(range(1, resumed.next_seq))
            await again.close()
            await journal.close()
            with pytest.raises(CommitFailed):
                await journal.read("s")

        run(main())


def test_all_batches_of_a_failed_commit_get_the_same_answer(path, faults):
    with watched(faults) as vfs:

        async def main():
            journal = SqliteJournal(path, vfs=vfs)
            claims = [await journal.claim(f"s{i}", create=True) for i in range(5)]
            faults.arm("sync", io_error(), times=99)
            appends = (journal.append(claim, batch(claim, "x")) for claim in claims)
            results = await asyncio.gather(*appends, return_exceptions=True)
            assert [type(result) for result in results] == [CommitFailed] * 5
            faults.disarm()
            await journal.close()

        run(main())


def test_a_failed_commit_is_not_hidden_by_a_cancellation(path, faults):
    with watched(faults) as vfs:

        async def main():
            journal = SqliteJournal(path, vfs=vfs)
            claim = await journal.claim("s", create=True)
            faults.arm("sync", io_error())
            task = asyncio.create_task(journal.append(claim, batch(claim, "unknown")))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert claim.next_seq == 1
            with pytest.raises(CommitFailed):
                await journal.read("s")
            again = SqliteJournal(path)
            await again.claim("s")
            await again.close()
            await journal.close()

        run(main())


def test_a_claim_whose_commit_raises_is_not_held(path, faults):
    with watched(faults) as vfs:

        async def main():
            journal = SqliteJournal(path, vfs=vfs)
            await journal.release(await journal.claim("s", create=True))
            faults.arm("sync", io_error())
            with pytest.raises(CommitFailed):
                await journal.claim("s")
            again = SqliteJournal(path, vfs=vfs)
            claim = await again.claim("s")
            await again.append(claim, batch(claim, "fine"))
            await again.close()
            await journal.close()

        run(main())


@pytest.mark.parametrize("times", [1, 1000], ids=["once", "sticky"])
def test_a_full_disk_writes_nothing_and_loses_nothing(path, faults, times):
    with watched(faults) as vfs:

        async def main():
            journal = SqliteJournal(path, vfs=vfs)
            claims = [await journal.claim(f"s{i}", create=True) for i in range(3)]
            for claim in claims:
                await journal.append(claim, batch(claim, "safe"))
            faults.arm("write", disk_full(), times=times)
            with pytest.raises(JournalUnusable, match="nothing was written: the disk is full"):
                await journal.append(claims[0], batch(claims[0], "no room"))
            faults.disarm()
            assert texts(await journal.read("s0")) == ["safe"]
            await journal.append(claims[0], batch(claims[0], "room again"))
            await journal.close()
            again = SqliteJournal(path)
            assert texts(await again.read("s0")) == ["safe", "room again"]
            await again.close()

        run(main())


def test_an_error_before_the_commit_writes_nothing(path, faults):
    with watched(faults) as vfs:

        async def main():
            journal = SqliteJournal(path, vfs=vfs)
            claim = await journal.claim("s", create=True)

            def broken(transaction):
                transaction.connection.execute("UPDATE session SET owner = 'nobody'")
                raise io_error(apsw.SQLITE_IOERR_READ)

            with pytest.raises(JournalUnusable, match="nothing was written: reading or writing the file failed"):
                await journal._writer.run(broken)
            assert (await journal.sessions())[0].owner.startswith("process ")
            await journal.append(claim, batch(claim, "fine"))
            await journal.close()

        run(main())


@pytest.mark.parametrize(
    ("kind", "error"),
    [("write", disk_full()), ("write", io_error(apsw.SQLITE_IOERR_WRITE)), ("sync", io_error())],
    ids=["full", "write", "sync"],
)
@pytest.mark.parametrize("sticky", [False, True], ids=["once", "sticky"])
def test_whichever_change_fails_every_acknowledged_append_is_there(fast_home, kind, error, sticky):
    """Fail the n-th write or sync of a short run, for every n, then open the file anew."""

    async def attempt(path, number):
        acknowledged, unknown = [], 0
        left = [number]

        def fail(change):
            if change.kind == kind:
                left[0] -= 1
                if left[0] == 0 or (sticky and left[0] < 0):
                    raise error

        hook.append(fail)
        journal = SqliteJournal(path, vfs=vfs)
        try:
            claim = await journal.claim("s", create=True)
            for name in ("a", "b", "c"):
                await journal.append(claim, batch(claim, name))
                acknowledged.append(name)
        except CommitFailed:
            unknown = 1
        except JournalUnusable:
            pass
        hook.clear()
        await journal.close()
        again = SqliteJournal(path)
        claim = await again.claim("s", create=True)
        found = texts(await again.read("s"))
        assert found[: len(acknowledged)] == acknowledged
        assert len(found) <= len(acknowledged) + unknown
        await again.append(claim, batch(claim, "on"))
        assert texts(await again.read("s"))[-1] == "on"
        await again.close()
        return left[0] <= 0

    hook = []
    with watched(lambda change: [refuse(change) for refuse in hook]) as vfs:
        reached = [run(attempt(fast_home / f"{n}.db", n)) for n in range(1, 80)]
    assert reached[0]
    assert not reached[-1], "the sweep stops short of the run's end"
    assert all(a >= b for a, b in pairwise(reached))


WRITE_UNTIL_FULL = """
import asyncio, resource, signal, sys
from fsm.journal.sqlite import SqliteJournal
from journal.kit import batch
from states.errors import JournalError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

async def main():
    journal = SqliteJournal(sys.argv[1])
    claim = await journal.claim("s", create=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    for number in range(1000):
        try:
            await journal.append(claim, batch(claim, "x" * 1500))
        except JournalError as error:
            print(type(error).__name__, number)
            return

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE as Linux has it")
def test_a_limit_on_the_files_size_loses_nothing(path):
    assert signal.SIGXFSZ
    process = python(WRITE_UNTIL_FULL, path)
    out, _ = process.communicate()
    name, written = out.split()
    assert name in ("CommitFailed", "JournalUnusable")

    async def main():
        journal = SqliteJournal(path)
        assert int(written) > 5
        assert len(await journal.read("s")) == int(written)
        claim = await journal.claim("s")
        await journal.append(claim, batch(claim, "on"))
        await journal.close()

    run(main())
