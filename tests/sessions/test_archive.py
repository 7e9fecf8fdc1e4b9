"""A session travels as one file, and a file that was changed does not arrive."""

import orjson
import pytest
from support.bench import Bench, story

from fsm import Loop
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.journal.memory import MemoryJournal
from fsm.journal.sqlite import SqliteJournal
from fsm.providers.scripted import Scripted, asks_for, says
from states.errors import ConfigError, JournalCorrupt, NewerJournal, SessionBusy, UnknownSession
from states.messages import UserMessage

TURNS = (asks_for(("write", {"what": "x"})), says("done"))


async def exported(*turns, **more):
    bench = Bench(*(turns or TURNS), **more)
    await bench.run()
    return bench, await bench.loop.export("s")


def elsewhere(*turns, journal=None):
    return Loop(provider=Scripted(turns), journal=journal or MemoryJournal())


def test_a_session_goes_on_where_it_was_taken_to(tmp_path):
    async def tale():
        _, file = await exported()
        journal = SqliteJournal(tmp_path / "other.db")
        loop = elsewhere(says("and more"), journal=journal)
        name = await loop.import_session(file)
        again = await loop.export("s")
        result = await loop.resume(name, "more")
        findings = audit(GRAPH, await journal.read(name), name)
        await loop.close()
        return file, again, result, findings

    file, again, result, findings = story(tale())
    assert again == file
    assert result.text == "and more"
    assert findings == []


def test_inputs_posted_after_the_import_are_heard_although_the_other_journal_counted_further(tmp_path):
    async def tale():
        bench = Bench(says("one"), says("two"))
        await bench.run()
        for n in range(5):
            await bench.loop.steer("s", f"note {n}")
        await bench.resume()
        loop = elsewhere(says("heard"), journal=SqliteJournal(tmp_path / "other.db"))
        await loop.import_session(await bench.loop.export("s"))
        await loop.steer("s", "fresh")
        await loop.follow_up("s", "after that")
        await loop.resume("s")
        requests = loop._providers[0].requests
        await loop.close()
        return requests

    (request, *_) = story(tale())
    assert request.messages[-1] == UserMessage("fresh")


def changed(file, place, **fields):
    lines = file.split(b"\n")
    lines[place] = orjson.dumps(orjson.loads(lines[place]) | fields)
    return b"\n".join(lines)


def without(file, place):
    lines = file.split(b"\n")
    return b"\n".join([*lines[:place], *lines[place + 1 :]])


@pytest.mark.parametrize(
    ("edit", "error", "words"),
    [
        (lambda file: changed(file, 3, body='{"text":"x","kind":"user_input"}'), JournalCorrupt, "entry 3: its digest"),
        (lambda file: changed(file, 3, at=1.0), JournalCorrupt, "entry 3: its digest"),
        (lambda file: changed(file, 3, digest="zz"), JournalCorrupt, "entry 3: its line"),
        (lambda file: changed(file, 3, extra=1), JournalCorrupt, "entry 3: its line"),
        (lambda file: without(file, 4), JournalCorrupt, "entry 4: it is missing"),
        (lambda file: without(file, -2), JournalCorrupt, "it is missing, and all after it"),
        (lambda file: file[: len(file) // 2], JournalCorrupt, "cannot be read"),
        (lambda file: file + file.split(b"\n")[1], JournalCorrupt, "is missing; the next one that is there is 1"),
        (lambda file: changed(file, 0, session="t"), JournalCorrupt, "entry 1: its digest"),
        (lambda file: changed(file, 0, version=99), NewerJournal, "99"),
        (lambda file: changed(file, 0, entries="many"), ConfigError, "first line"),
        (lambda file: b"hello\n", ConfigError, "no exported session"),
        (lambda file: b"", ConfigError, "no exported session"),
    ],
)
def test_a_file_that_was_changed_is_refused_and_nothing_arrives(edit, error, words):
    async def tale():
        _, file = await exported()
        loop = elsewhere()
        with pytest.raises(error, match=words):
            await loop.import_session(edit(file))
        return await loop.sessions()

    assert story(tale()) == []


def test_a_name_that_is_taken_is_refused_and_another_name_makes_a_fork():
    async def tale():
        bench, file = await exported()
        with pytest.raises(ConfigError, match="there is a session 's' already"):
            await bench.loop.import_session(file)
        assert await bench.loop.import_session(file, name="t") == "t"
        return await bench.history("t")

    assert story(tale()).forked.origin == "s"


def test_secrets_are_not_in_the_file():
    class Talkative(Scripted):
        secrets = ("sk-very-secret-key",)

    async def tale():
        provider = Talkative([asks_for(("look", {"key": "sk-very-secret-key"})), says("it is sk-very-secret-key")])
        _, file = await exported(provider=provider)
        return file

    file = story(tale())
    assert b"sk-very-secret-key" not in file
    assert b"[redacted]" in file


def test_a_deleted_session_is_gone_with_its_notes_and_a_new_one_of_its_name_is_new(tmp_path):
    async def tale():
        journal = SqliteJournal(tmp_path / "runs.db")
        bench = Bench(says("one"), says("two"), says("three"), journal=journal)
        await bench.run()
        await bench.run(session="t")
        await bench.loop.steer("s", "left behind")
        await bench.loop.follow_up("s", "left behind, too")
        await bench.loop.delete("s")
        with pytest.raises(UnknownSession):
            await bench.loop.resume("s")
        with pytest.raises(UnknownSession):
            await bench.loop.delete("s")
        result = await bench.run()
        left = await bench.history("t"), await journal.unguarded()
        await journal.close()
        return result, left

    result, (other, unguarded) = story(tale())
    assert (result.text, other.run, unguarded) == ("three", 1, [])


def test_a_session_that_somebody_runs_is_not_deleted_and_not_titled(tmp_path):
    async def tale():
        journal, other = SqliteJournal(tmp_path / "runs.db"), SqliteJournal(tmp_path / "runs.db")
        bench = Bench(says("one"), journal=journal)
        await bench.run()
        claim = await other.claim("s")
        for refused in (bench.loop.delete("s"), bench.loop.title("s", "x")):
            with pytest.raises(SessionBusy):
                await refused
        await other.release(claim)
        await bench.loop.title("s", "  The first\none ")
        (found,) = await bench.loop.sessions()
        await journal.close()
        await other.close()
        return found

    found = story(tale())
    assert (found.title, found.task) == ("The first one", "go")


def test_what_tools_kept_for_a_session_goes_with_it(tmp_path):
    async def tale():
        loop = Loop(provider=Scripted([says("one"), says("two")]), workspace=tmp_path)
        kept = [tmp_path / ".interlock" / path for path in ("output/s%3A7.txt", "effects/s/7.json")]
        others = [tmp_path / ".interlock" / path for path in ("output/s%3A1%3A7.txt", "effects/s2/7.json")]
        for file in (*kept, *others):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x")
        await loop.run("go", session="s")
        await loop.delete("s")
        await loop.close()
        return [file.exists() for file in kept], [file.exists() for file in others]

    assert story(tale()) == ([False, False], [True, True])
