"""The journal in memory: the same refusals, and faults on demand."""

import asyncio

import pytest
from journal.kit import batch, run, texts

from fsm.journal.memory import Fault, MemoryJournal
from states.errors import CommitFailed, Fenced, JournalUnusable, SessionBusy


async def appended(journal, *words):
    """Append each word alone; what became of each."""
    claim = await journal.claim("s", create=True)
    results = []
    for word in words:
        try:
            await journal.append(claim, batch(claim, word))
            results.append("ok")
        except (CommitFailed, JournalUnusable) as error:
            results.append(type(error).__name__)
    return claim, results


@pytest.mark.parametrize(
    ("fault", "results", "left"),
    [
        (Fault.NONE, ["ok", "ok", "ok"], ["a", "b", "c"]),
        (Fault.REFUSED, ["ok", "JournalUnusable", "ok"], ["a", "c"]),
        (Fault.LOST, ["ok", "CommitFailed", "CommitFailed"], ["a"]),
        (Fault.KEPT, ["ok", "CommitFailed", "CommitFailed"], ["a", "b"]),
        (Fault.UNSYNCED, ["ok", "ok", "ok"], ["a", "b", "c"]),
    ],
)
def test_each_fault_does_what_it_says(fault, results, left):
    async def main():
        journal = MemoryJournal([Fault.NONE, fault])
        claim, found = await appended(journal, "a", "b", "c")
        assert found == results
        if fault in (Fault.LOST, Fault.KEPT):
            assert claim.next_seq == 2
            for call in (journal.read("s"), journal.claim("s"), journal.confirm(claim), journal.sessions()):
                with pytest.raises(CommitFailed):
                    await call
        journal.crash()
        assert texts(await journal.read("s")) == left
        with pytest.raises(Fenced):
            await journal.append(claim, batch(claim, "zombie"))
        again = await journal.claim("s")
        assert (again.fence, again.next_seq) == (2, len(left) + 1)
        await journal.append(again, batch(again, "on"))
        assert texts(await journal.read("s")) == [*left, "on"]

    run(main())


def test_a_lie_is_found_out_by_the_next_crash_unless_an_honest_commit_came_between():
    async def main(then):
        journal = MemoryJournal([Fault.NONE, Fault.UNSYNCED])
        claim, _ = await appended(journal, "a", "lie")
        assert texts(await journal.read("s")) == ["a", "lie"]
        if then == "append":
            await journal.append(claim, batch(claim, "honest"))
        if then == "post":
            await journal.post("s", "x")
        if then == "claim":
            await journal.claim("t", create=True)
        journal.crash()
        again = await journal.claim("s")
        found = texts(await journal.read("s"))
        assert again.next_seq == len(found) + 1
        await journal.append(again, batch(again, "on"))
        assert texts(await journal.read("s")) == [*found, "on"]
        return found

    assert run(main("nothing")) == ["a"]
    assert run(main("append")) == ["a", "lie", "honest"]
    assert run(main("post")) == run(main("claim")) == ["a", "lie"]


def test_hooks_see_each_commit_and_may_die_there():
    class Died(BaseException):
        pass

    async def main(deadly):
        calls = []

        def hook(name):
            def call(claim, drafts):
                calls.append((name, claim.session, [draft.kind for draft in drafts]))
                if (name, len(calls)) == deadly:
                    raise Died

            return call

        journal = MemoryJournal(before=hook("before"), after=hook("after"))
        claim = await journal.claim("s", create=True)
        await journal.append(claim, batch(claim, "a"))
        try:
            await journal.append(claim, batch(claim, "b", "c"))
        except Died:
            journal.crash()
        return calls, texts(await journal.read("s"))

    calls, found = run(main(None))
    one, two = ["user_input"], ["user_input"] * 2
    assert calls == [("before", "s", one), ("after", "s", one), ("before", "s", two), ("after", "s", two)]
    assert found == ["a", "b", "c"]
    assert run(main(("before", 3)))[1] == ["a"]
    assert run(main(("after", 4)))[1] == ["a", "b", "c"]


def test_faults_may_go_on_for_ever():
    async def main():
        journal = MemoryJournal(iter(lambda: Fault.REFUSED, None))
        _, results = await appended(journal, *"abcde")
        assert results == ["JournalUnusable"] * 5

    run(main())


def test_a_cancellation_arrives_after_the_commit_and_others_run_in_between():
    async def main():
        journal = MemoryJournal()
        claims = [await journal.claim(name, create=True) for name in "st"]
        tasks = [asyncio.create_task(journal.append(claim, batch(claim, "x"))) for claim in claims]
        await asyncio.sleep(0)
        assert not any(task.done() for task in tasks)
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        await tasks[1]
        assert [claim.next_seq for claim in claims] == [2, 2]

    run(main())


def test_it_needs_no_thread_and_no_clock_of_its_own():
    async def main():
        ticks = iter([10.0, 20.0, 30.0])
        journal = MemoryJournal(now=lambda: next(ticks))
        await journal.claim("s", create=True)
        note = await journal.post("s", "x \udc80\0")
        assert (note.at, note.text) == (20.0, "x \\udc80\\x00")
        (info,) = await journal.sessions()
        assert (info.created, info.updated, info.entries, info.fence) == (10.0, 10.0, 0, 1)
        with pytest.raises(SessionBusy):
            await journal.claim("s")
        await journal.close()
        with pytest.raises(JournalUnusable, match="closed"):
            await journal.sessions()

    run(main())
