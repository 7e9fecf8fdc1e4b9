"""Which files are opened, which are refused in plain words and left alone, and what is put beside them."""

import asyncio
import os
import sqlite3
import sys
from pathlib import Path

import apsw
import pytest
from journal.kit import batch, python, run, texts

from fsm.journal import open_journal, opening
from fsm.journal.memory import MemoryJournal
from fsm.journal.sqlite import SqliteJournal
from states.codec import VERSION
from states.errors import ConfigError, JournalUnusable, NewerJournal, SessionBusy, UnknownSession


async def make(path, *words):
    journal = SqliteJournal(path)
    claim = await journal.claim("s", create=True)
    await journal.append(claim, batch(claim, *words))
    await journal.close()


async def refusals(path):
    """What each way in says about a file that is not to be used."""
    said = []
    journal = SqliteJournal(path)
    for call in (journal.read("s"), journal.sessions(), journal.post("s", "x"), journal.claim("s", create=True)):
        with pytest.raises(Exception) as caught:
            await call
        said.append(caught.value)
    await journal.close()
    return said


@pytest.mark.parametrize("content", [b"hi", b"\0" * 100, b"x" * 5000, b"SQLite format 3\0"])
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    for error in run(refusals(path)):
        assert isinstance(error, JournalUnusable)
        assert str(path) in str(error)
        assert "no SQLite database" in str(error)
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("foreign", ["CREATE TABLE t(a)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"])
def test_another_programs_database_is_named_and_left_alone(tmp_path, foreign):
    path = tmp_path / "theirs.db"
    connection = sqlite3.connect(path)
    connection.execute(foreign)
    connection.commit()
    connection.close()
    before = path.read_bytes()
    for error in run(refusals(path)):
        assert isinstance(error, JournalUnusable)
        assert f"{path}: it is a database of another program" in str(error)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["theirs.db"]


def test_a_newer_format_is_refused_by_name(tmp_path):
    path = tmp_path / "runs.db"
    run(make(path, "one"))
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", VERSION + 1)
    connection.close()
    for error in run(refusals(path)):
        assert isinstance(error, NewerJournal)
        assert f"journal {path}: it has format version {VERSION + 1}" in str(error)


def test_an_older_format_can_be_read_but_not_written(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    run(make(path, "one"))
    monkeypatch.setattr(opening, "VERSION", VERSION + 1)

    async def main():
        journal = SqliteJournal(path)
        assert texts(await journal.read("s")) == ["one"]
        with pytest.raises(JournalUnusable, match=f"format version {VERSION}; this program writes {VERSION + 1}"):
            await journal.claim("s")
        await journal.close()

    run(main())


def test_a_directory_is_refused(tmp_path):
    for error in run(refusals(tmp_path)):
        assert isinstance(error, JournalUnusable)
        assert "is a directory" in str(error)


def test_a_path_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    for error in run(refusals(tmp_path / "file" / "runs.db")):
        assert isinstance(error, JournalUnusable)
        assert "file" in str(error)


def test_looking_into_a_journal_that_is_not_there_makes_nothing(tmp_path):
    async def main():
        journal = SqliteJournal(tmp_path / "sub" / "runs.db")
        assert await journal.sessions() == []
        assert await journal.notes("s", 0) == []
        for call in (journal.read("s"), journal.claim("s"), journal.post("s", "x")):
            with pytest.raises(UnknownSession, match=r"'s'.*runs\.db"):
                await call
        await journal.close()

    run(main())
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_no_bytes_becomes_a_journal(tmp_path):
    path = tmp_path / "runs.db"
    path.touch()

    async def main():
        journal = SqliteJournal(path)
        assert await journal.sessions() == []
        await journal.close()

    run(main())
    assert path.stat().st_size == 0
    run(make(path, "one"))
    assert path.stat().st_size > 0


def test_a_creation_that_stopped_half_way_is_finished(tmp_path):
    path = tmp_path / "runs.db"
    connection = apsw.Connection(str(path))
    connection.pragma("page_size", 8192)
    connection.pragma("journal_mode", "WAL")
    connection.close()
    assert path.stat().st_size == 8192
    run(make(path, "one"))


def test_making_the_file_waits_for_another_process_that_makes_it(tmp_path, monkeypatch):
    """SQLite answers "busy" at once when somebody else is about to write and the file is to become a WAL one."""
    path = tmp_path / "runs.db"
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    waits = []

    def wait(tries):
        waits.append(tries)
        other.execute("ROLLBACK")
        return True

    monkeypatch.setattr(opening, "_wait", wait)
    run(make(path, "one"))
    other.close()
    assert waits == [0]
    with monkeypatch.context() as impatient:
        impatient.setattr(opening, "_wait", lambda tries: False)
        blocked = tmp_path / "blocked.db"
        other = apsw.Connection(str(blocked))
        other.execute("BEGIN IMMEDIATE")
        journal = SqliteJournal(blocked)
        with pytest.raises(JournalUnusable, match="another process has kept it locked"):
            run(journal.claim("s", create=True))
        run(journal.close())
        other.close()


def test_directories_are_made_and_keep_themselves_out_of_git(tmp_path):
    path = tmp_path / "work" / ".interlock" / "journal.db"
    run(make(path, "one"))
    assert (path.parent / ".gitignore").read_text() == "*\n"
    (path.parent / ".gitignore").write_text("mine\n")
    run(make(tmp_path / "work" / ".interlock" / "other.db", "one"))
    assert (path.parent / ".gitignore").read_text() == "mine\n"
    assert sorted(p.name for p in path.parent.parent.iterdir()) == [".interlock"]
    run(make(tmp_path / "plain" / "journal.db", "one"))
    assert not (tmp_path / "plain" / ".gitignore").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names descriptors through /proc")
def test_each_new_directory_is_made_durable_in_its_parent(tmp_path, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(Path(f"/proc/self/fd/{fd}").readlink()), real(fd)))
    run(make(tmp_path / "a" / "b" / "runs.db", "one"))
    run(make(tmp_path / "a" / "b" / "other.db", "one"))
    assert synced == [tmp_path, tmp_path / "a"]


def test_an_old_library_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")
    journal = SqliteJournal(tmp_path / "runs.db")
    with pytest.raises(JournalUnusable, match=r"SQLite 3\.40\.1 can lose commits.*3\.51\.3"):
        run(journal.claim("s", create=True))
    run(journal.close())
    assert list(tmp_path.iterdir()) == []


def test_a_place_without_wal_is_refused(tmp_path):
    journal = SqliteJournal(tmp_path / "runs.db", vfs="unix-none")
    with pytest.raises(JournalUnusable, match="journal_mode=wal"):
        run(journal.claim("s", create=True))
    run(journal.close())


@pytest.mark.parametrize("name", ["journal_no_update", "journal_no_delete", "journal_guard", "journal_head"])
def test_a_file_without_its_triggers_can_be_read_but_not_written(tmp_path, name):
    path = tmp_path / "runs.db"
    run(make(path, "one"))
    connection = apsw.Connection(str(path))
    connection.execute(f"DROP TRIGGER {name}")
    connection.close()

    async def main():
        journal = SqliteJournal(path)
        assert texts(await journal.read("s")) == ["one"]
        with pytest.raises(JournalUnusable, match=name):
            await journal.claim("s")
        await journal.close()

    run(main())


def test_what_stood_in_the_way_may_go_away(tmp_path):
    path = tmp_path / "runs.db"
    path.write_bytes(b"not yet")

    async def main():
        journal = SqliteJournal(path)
        with pytest.raises(JournalUnusable):
            await journal.claim("s", create=True)
        path.unlink()
        claim = await journal.claim("s", create=True)
        await journal.append(claim, batch(claim, "fine"))
        assert texts(await journal.read("s")) == ["fine"]
        await journal.close()

    run(main())


READ_AS_NOBODY = """
import asyncio, os, sys
from fsm.journal.sqlite import SqliteJournal
from journal.kit import batch, texts
from states.errors import JournalUnusable
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)

async def main():
    journal = SqliteJournal(sys.argv[1])
    print(*texts(await journal.read("s")), [s.entries for s in await journal.sessions()], await journal.notes("s", 0))
    for call in (journal.claim("s"), journal.claim("t", create=True), journal.post("s", "x")):
        try:
            await call
        except JournalUnusable as error:
            print("unusable:", "read-only" in str(error) or "cannot be" in str(error))
    await journal.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="drops root's rights")
@pytest.mark.parametrize("state", ["closed", "killed", "running"])
def test_a_read_only_place_can_be_read(fast_home, state):
    """After a clean close, after a kill (a WAL and its index lie about), and while the owner is at work."""
    home = fast_home  # not below pytest's own directory: that one is private
    home.chmod(0o755)
    path = home / "runs.db"

    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        await journal.append(claim, batch(claim, "one", "two"))
        if state == "closed":
            await journal.close()
        if state == "killed":
            kept = {p: p.read_bytes() for p in home.iterdir() if p.is_file()}
            await journal.close()
            for file, content in kept.items():
                file.write_bytes(content)
            (home / "runs.db-shm").unlink()
        mode = {p: p.stat().st_mode for p in home.rglob("*")}
        for p in mode:
            p.chmod(0o555 if p.is_dir() else 0o444)
        home.chmod(0o555)
        try:
            process = await asyncio.to_thread(python, READ_AS_NOBODY, path)
            out, _ = await asyncio.to_thread(process.communicate)
        finally:
            home.chmod(0o755)
            for p, bits in mode.items():
                p.chmod(bits)
        await journal.close()
        return out.splitlines()

    assert run(main()) == ["one two [2] []", "unusable: True", "unusable: True", "unusable: True"]


@pytest.mark.parametrize(
    "name",
    [
        "a/b",
        "../up",
        ".",
        "sp ace",
        "ümläut 会话 \U0001f600",
        "nul\0byte",
        "x" * 5000,
        "new\nline",
        "A",
        "a",
        "%s' OR 1",
    ],
)
def test_any_text_names_a_session(tmp_path, name):
    async def main():
        journal = SqliteJournal(tmp_path / "runs.db")
        other = await journal.claim("other", create=True)
        claim = await journal.claim(name, create=True)
        with pytest.raises(SessionBusy):
            await journal.claim(name)
        await journal.append(claim, batch(claim, "one"))
        await journal.append(other, batch(other, "two"))
        await journal.post(name, "note")
        await journal.confirm(claim)
        assert texts(await journal.read(name)) == ["one"]
        assert {info.session for info in await journal.sessions()} == {name, "other"}
        await journal.release(claim)
        assert len(list((tmp_path / "runs.db.locks").iterdir())) == 1
        await journal.close()

    run(main())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["runs.db", "runs.db.locks"]


@pytest.mark.parametrize("name", ["", "lone \udc80 surrogate"])
@pytest.mark.parametrize("make_journal", [lambda d: SqliteJournal(d / "runs.db"), lambda d: MemoryJournal()])
def test_a_name_that_cannot_be_stored_is_refused_before_anything_is_made(tmp_path, name, make_journal):
    async def main():
        journal = make_journal(tmp_path)
        with pytest.raises(ConfigError, match="session"):
            await journal.claim(name, create=True)
        for call in (journal.claim(name), journal.read(name), journal.post(name, "x")):
            with pytest.raises(UnknownSession):
                await call
        assert await journal.notes(name, 0) == []
        await journal.close()

    run(main())
    assert list(tmp_path.iterdir()) == []


def test_a_path_in_any_spelling_is_the_same_journal(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "real")

    async def main():
        journal, other = SqliteJournal("file:a?b#c %41.db"), SqliteJournal(tmp_path / "link" / "file:a?b#c %41.db")
        await journal.claim("s", create=True)
        with pytest.raises(SessionBusy):
            await other.claim("s")
        await journal.close()
        await other.close()

    run(main())
    assert sorted(p.name for p in Path.cwd().iterdir()) == ["file:a?b#c %41.db", "file:a?b#c %41.db.locks"]


def test_open_journal_takes_a_path_a_name_or_a_journal(tmp_path):
    memory = open_journal(":memory:")
    assert isinstance(memory, MemoryJournal)
    assert open_journal(memory) is memory
    for spec in (tmp_path / "runs.db", str(tmp_path / "runs.db")):
        journal = open_journal(spec)
        assert isinstance(journal, SqliteJournal)
        assert Path(journal.path) == tmp_path / "runs.db"
    assert list(tmp_path.iterdir()) == []
    for url in ("postgres://u@h/db", "postgresql://h/db"):
        with pytest.raises(ConfigError, match="PostgreSQL is not in this version"):
            open_journal(url)
    for spec in ("", " ", "sqlite:///x.db"):
        with pytest.raises(ConfigError, match="path of a file"):
            open_journal(spec)


def test_importing_the_package_loads_no_store():
    process = python("import sys, fsm.journal; print([m for m in ('apsw', 'fsm.journal.memory') if m in sys.modules])")
    assert process.communicate()[0] == "[]\n"
