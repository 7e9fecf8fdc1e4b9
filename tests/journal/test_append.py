"""What an append promises: whole or not at all, fenced, append-only, sealed, shared syncs, not to be cancelled."""

import asyncio
import gc
import threading

import apsw
import pytest
from journal.disks import Faults
from journal.kit import batch, draft, run, texts

from fsm.checks.watched_disk import watched
from fsm.journal.sqlite import SqliteJournal
from states.errors import Fenced, JournalUnusable, Unsealed
from states.ports import Claim
from states.records import Entry, Status, ToolResult, UserInput


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def raw(path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.pragma("recursive_triggers", "ON")
    return connection


def test_what_was_appended_is_read_back_equal(path):
    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        result = ToolResult(
            "c1", Status.OK, "text \u2028 \U0001f600", {"exit_status": 0, "nested": [1, None, {"a": 2.5}]}, 0.25
        )
        await journal.append(
            claim, [draft(claim, UserInput("hi"), at=-0.0), draft(claim, result, ahead=1, at=1e9 + 0.1)]
        )
        await journal.append(claim, [])
        assert (claim.next_seq, claim.fence) == (3, 1)
        first = await journal.read("s")
        await journal.close()
        again = SqliteJournal(path)
        assert await again.read("s") == first == [Entry(1, 0.0, 1, UserInput("hi")), Entry(2, 1e9 + 0.1, 1, result)]
        resumed = await again.claim("s")
        assert (resumed.next_seq, resumed.fence, resumed.digest) == (3, 2, claim.digest)
        await again.close()

    run(main())


def test_a_batch_is_whole_or_not_at_all(path):
    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        gap = [*batch(claim, "one", "two"), draft(claim, UserInput("four"), ahead=3)]
        with pytest.raises(Fenced, match=r"'s'.*next entry is 3"):
            await journal.append(claim, gap)
        assert (claim.next_seq, await journal.read("s")) == (1, [])
        await journal.append(claim, batch(claim, "one", "two"))
        assert texts(await journal.read("s")) == ["one", "two"]
        await journal.close()

    run(main())


def test_an_older_claim_and_a_released_one_are_refused(path):
    async def main():
        journal, other = SqliteJournal(path), SqliteJournal(path)
        old = await journal.claim("s", create=True)
        (next((path.parent / "runs.db.locks").iterdir())).unlink()  # so that somebody else can take over
        new = await other.claim("s")
        await other.append(new, batch(new, "new"))
        with pytest.raises(Fenced, match="claim 2 is newer"):
            await journal.append(old, batch(old, "stale"))
        with pytest.raises(Fenced):
            await journal.confirm(old)
        forged = Claim("s", 2, 2, new.digest)
        with pytest.raises(Fenced, match="belongs to another"):
            await journal.append(forged, batch(forged, "forged"))
        with pytest.raises(Fenced, match="made for claim 2"):
            await journal.append(old, batch(forged, "dressed up"))
        await other.confirm(new)
        await other.release(new)
        await other.release(new)
        for call in (other.append(new, batch(new, "late")), other.confirm(new)):
            with pytest.raises(Fenced, match="released"):
                await call
        assert texts(await other.read("s")) == ["new"]
        await journal.close()
        await other.close()

    run(main())


def test_confirm_notices_a_newer_claim_that_asked_for_no_lock(path):
    """As from another machine, where the lock is not seen."""

    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        connection = raw(path)
        connection.execute("UPDATE session SET fence = fence + 1")
        with pytest.raises(Fenced, match="claim 2 is newer"):
            await journal.confirm(claim)
        connection.execute("DELETE FROM session")
        connection.close()
        for call in (journal.confirm(claim), journal.append(claim, batch(claim, "x"))):
            with pytest.raises(Fenced, match="session is gone"):
                await call
        await journal.close()

    run(main())


def test_confirm_notices_a_lock_file_that_was_replaced(path):
    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        await journal.confirm(claim)
        (lock,) = (path.parent / "runs.db.locks").iterdir()
        lock.rename(lock.with_suffix(".moved"))
        with pytest.raises(Fenced, match="lock file"):
            await journal.confirm(claim)
        lock.write_text("somebody else's")
        with pytest.raises(Fenced, match="lock file"):
            await journal.confirm(claim)
        await journal.close()
        assert lock.read_text() == "somebody else's"

    run(main())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal SET body = x'00' WHERE seq = 1",
        "DELETE FROM journal WHERE seq = 1",
        "INSERT OR REPLACE INTO journal VALUES (1, 's', 2, 1, 'x', 0.0, NULL, x'00', x'00')",
        "INSERT OR REPLACE INTO journal VALUES (NULL, 's', 1, 1, 'x', 0.0, NULL, x'00', x'00')",
        "INSERT OR IGNORE INTO journal VALUES (NULL, 's', 2, 9, 'x', 0.0, NULL, x'00', x'00')",
    ],
)
def test_the_file_itself_refuses_changes_and_unfenced_entries(path, statement):
    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        await journal.append(claim, batch(claim, "one"))
        connection = raw(path)
        with pytest.raises(apsw.ConstraintError, match=r"append-only|fenced"):
            connection.execute(statement)
        connection.close()
        assert texts(await journal.read("s")) == ["one"]
        await journal.close()

    run(main())


def test_the_writer_has_what_those_refusals_need(path):
    async def main():
        journal = SqliteJournal(path)
        await journal.claim("s", create=True)
        pragmas = ("recursive_triggers", "page_size", "journal_mode", "synchronous", "wal_autocheckpoint")
        found = await journal._writer.run(lambda tx: [tx.connection.pragma(name) for name in pragmas])
        assert found == [1, 8192, "wal", 3, 1000]
        await journal.close()

    run(main())


def test_a_seal_holds_only_if_no_input_slipped_in(path):
    async def main():
        journal, other = SqliteJournal(path), SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        await journal.claim("else", create=True)
        seen = await other.post("s", "first")
        await other.post("else", "of no concern")
        await other.post("s", None)  # a cancellation is no input
        await journal.append(claim, batch(claim, "sealed", seals=seen.number))
        await other.post("s", "second")
        with pytest.raises(Unsealed, match=f"above {seen.number}"):
            await journal.append(claim, batch(claim, "one", "sealed again", seals=seen.number))
        assert texts(await journal.read("s")) == ["sealed"]
        (late,) = [note for note in await journal.notes("s", seen.number) if note.text]
        await journal.append(claim, batch(claim, "now", seals=late.number))
        await journal.close()
        await other.close()

    run(main())


def test_seal_and_input_race_and_exactly_one_of_them_is_first(path):
    """Two connections, many rounds: a sealed entry never lies after an input that it did not know."""

    async def main():
        journal, other = SqliteJournal(path), SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        known, refused, sealed_first = 0, 0, 0
        for round_ in range(60):
            append = journal.append(claim, batch(claim, f"seal {round_}", seals=known))
            post = other.post("s", f"input {round_}")
            first, second = (append, post) if round_ % 2 else (post, append)
            results = await asyncio.gather(first, second, return_exceptions=True)
            sealed, note = results if round_ % 2 else results[::-1]
            if isinstance(sealed, Unsealed):
                refused += 1
            else:
                assert sealed is None
                sealed_first += 1
            known = note.number
        assert refused + sealed_first == 60
        assert len(await journal.read("s")) == sealed_first
        await journal.close()
        await other.close()

    run(main())


def test_two_appends_one_after_the_other_cost_two_syncs(path):
    faults = Faults()
    with watched(faults) as vfs:

        async def main():
            journal = SqliteJournal(path, vfs=vfs)
            claim = await journal.claim("s", create=True)
            before = faults.counts["sync"]
            await journal.append(claim, batch(claim, "one", "two", "three"))
            await journal.append(claim, batch(claim, "four"))
            assert faults.counts["sync"] - before == 2
            await journal.confirm(claim)
            await journal.read("s")
            assert faults.counts["sync"] - before == 2
            await journal.close()

        run(main())


def test_sessions_that_append_at_once_share_their_syncs(path):
    faults = Faults()
    with watched(faults) as vfs:

        async def main():
            journal = SqliteJournal(path, vfs=vfs)
            claims = [await journal.claim(f"s{i}", create=True) for i in range(100)]
            before = faults.counts["sync"]
            await asyncio.gather(*(journal.append(claim, batch(claim, "a", "b")) for claim in claims))
            assert faults.counts["sync"] - before <= 20
            for claim in claims:
                assert texts(await journal.read(claim.session)) == ["a", "b"]
            await journal.close()

        run(main())


def test_a_refused_batch_does_not_hurt_the_others_of_its_transaction(path):
    async def main():
        journal, thief = SqliteJournal(path), SqliteJournal(path)
        claims = [await journal.claim(f"s{i}", create=True) for i in range(6)]
        for lock in (path.parent / "runs.db.locks").iterdir():
            lock.unlink()
        await thief.claim("s1")
        await thief.post("s4", "input")
        bad_time = draft(claims[3], UserInput("no time"), ahead=1, at=float("nan"))
        drafts = [batch(claim, "a", "b", seals=0) for claim in claims]
        drafts[3] = [draft(claims[3], UserInput("a")), bad_time]
        results = await asyncio.gather(
            *(journal.append(claim, each) for claim, each in zip(claims, drafts, strict=True)), return_exceptions=True
        )
        kinds = [type(result) for result in results]
        assert kinds == [type(None), Fenced, type(None), JournalUnusable, Unsealed, type(None)]
        found = [texts(await journal.read(claim.session)) for claim in claims]
        assert found == [["a", "b"], [], ["a", "b"], [], [], ["a", "b"]]
        assert [claim.next_seq for claim in claims] == [3, 1, 3, 1, 1, 3]
        await journal.append(claims[3], batch(claims[3], "c"))
        await journal.close()
        await thief.close()

    run(main())


def test_batches_of_one_claim_in_one_transaction_keep_the_chain(path):
    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        rows = [[draft(claim, UserInput(str(i)), ahead=i)] for i in range(50)]
        await asyncio.gather(*(journal.append(claim, row) for row in rows))
        assert texts(await journal.read("s")) == [str(i) for i in range(50)]
        await journal.append(claim, batch(claim, "next"))
        await journal.close()

    run(main())


def test_a_cancelled_append_waits_for_its_outcome(path):
    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        for number in range(1, 21):
            task = asyncio.create_task(journal.append(claim, batch(claim, str(number))))
            await asyncio.sleep(0)  # it is queued now
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert claim.next_seq == number + 1
        assert len(await journal.read("s")) == 20
        await journal.close()

    run(main())


def test_a_refusal_is_not_lost_with_a_cancellation(path):
    """The claim did not advance, and nothing complains about an exception that nobody took."""

    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        task = asyncio.create_task(journal.append(claim, [draft(claim, UserInput("x"), ahead=5)]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (claim.next_seq, await journal.read("s")) == (1, [])
        complaints = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        del task
        await journal.append(claim, batch(claim, "fine"))  # the writer forgets what it did before
        gc.collect()
        assert complaints == []
        await journal.close()

    run(main())


def test_a_loop_that_ends_before_the_answer_does_not_stop_the_writer(path):
    journal = SqliteJournal(path)
    claim = run(journal.claim("s", create=True))
    loop = asyncio.new_event_loop()
    gate = threading.Event()
    task = loop.create_task(journal._writer.run(lambda _: gate.wait(10)))
    loop.run_until_complete(asyncio.sleep(0))
    task._log_destroy_pending = False  # it is meant to be left behind
    loop.close()
    gate.set()
    run(journal.append(claim, batch(claim, "fine")))
    assert texts(run(journal.read("s"))) == ["fine"]
    run(journal.close())


def test_a_cancelled_claim_leaves_the_session_free(path):
    async def main():
        journal = SqliteJournal(path)
        await journal.release(await journal.claim("s", create=True))
        task = asyncio.create_task(journal.claim("s"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        claim = await journal.claim("s")
        await journal.append(claim, batch(claim, "fine"))
        await journal.close()

    run(main())


def test_closing_finishes_what_is_queued_and_ends_the_journal(path):
    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        tasks = [
            asyncio.create_task(journal.append(claim, [draft(claim, UserInput(str(i)), ahead=i)])) for i in range(9)
        ]
        await asyncio.sleep(0)
        await asyncio.gather(journal.close(), journal.close(), *tasks)
        await journal.close()
        for call in (
            journal.append(claim, batch(claim, "x")),
            journal.read("s"),
            journal.claim("s"),
            journal.post("s", "x"),
        ):
            with pytest.raises(JournalUnusable, match="closed"):
                await call
        assert sorted(p.name for p in path.parent.iterdir()) == ["runs.db", "runs.db.locks"]
        again = SqliteJournal(path)
        assert len(await again.read("s")) == 9
        await again.close()

    run(main())


def test_one_journal_outlives_event_loops(path):
    journal = SqliteJournal(path)
    claim = run(journal.claim("s", create=True))
    for number in range(3):
        run(journal.append(claim, batch(claim, str(number))))
    assert texts(run(journal.read("s"))) == ["0", "1", "2"]
    run(journal.close())
