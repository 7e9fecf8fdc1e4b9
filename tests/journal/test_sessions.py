"""Sessions and notes, as other processes see them."""

import pytest
from journal.kit import batch, run

from fsm.journal.memory import MemoryJournal
from fsm.journal.sqlite import SqliteJournal
from states.errors import UnknownSession
from states.ports import Note


@pytest.fixture(params=["memory", "sqlite"])
def make(request, tmp_path):
    """A journal whose clock the test sets."""

    def journal(clock):
        now = lambda: clock[0]  # noqa: E731 - a clock is that short
        return MemoryJournal(now=now) if request.param == "memory" else SqliteJournal(tmp_path / "runs.db", now=now)

    return journal


def test_the_session_written_to_last_comes_first(make):
    async def main():
        clock = [100.0]
        journal = make(clock)
        assert await journal.sessions() == []
        claims = {}
        for name in ("a", "b", "c"):
            claims[name] = await journal.claim(name, create=True)
            clock[0] += 10
        await journal.append(claims["a"], batch(claims["a"], "x", "y"))  # at 1.5: its own time, not the journal's
        infos = await journal.sessions()
        assert [(i.session, i.fence, i.entries, i.created, i.updated) for i in infos] == [
            ("c", 1, 0, 120.0, 120.0),
            ("b", 1, 0, 110.0, 110.0),
            ("a", 1, 2, 100.0, 1.5),
        ]
        assert all(info.owner for info in infos)
        await journal.release(claims["b"])
        assert {info.session: bool(info.owner) for info in await journal.sessions()} == {
            "a": True,
            "b": False,
            "c": True,
        }
        await journal.close()

    run(main())


def test_notes_are_numbered_in_order_and_belong_to_their_session(make):
    async def main():
        clock = [5.0]
        journal = make(clock)
        for name in ("a", "b"):
            await journal.claim(name, create=True)
        posted = [await journal.post("a", "one"), await journal.post("b", "other"), await journal.post("a", None)]
        assert posted[0].number < posted[1].number < posted[2].number
        assert await journal.notes("a", 0) == [posted[0], posted[2]]
        assert await journal.notes("a", posted[0].number) == [Note(posted[2].number, "a", None, 5.0)]
        assert await journal.notes("a", posted[2].number) == []
        with pytest.raises(UnknownSession, match="'zzz'"):
            await journal.post("zzz", "hi")
        assert await journal.notes("zzz", 0) == []
        await journal.close()

    run(main())


def test_notes_outlive_their_poster(tmp_path):
    async def main():
        journal = SqliteJournal(tmp_path / "runs.db")
        await journal.claim("s", create=True)
        poster = SqliteJournal(tmp_path / "runs.db")
        note = await poster.post("s", "odd \udcff text \0")
        assert note.text == "odd \\udcff text \\x00"
        assert await journal.notes("s", 0) == [note]
        await poster.close()
        await journal.close()
        again = SqliteJournal(tmp_path / "runs.db")
        assert await again.notes("s", 0) == [note]
        await again.close()

    run(main())
