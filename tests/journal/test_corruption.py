"""A journal that was edited, shortened or damaged says so, and where."""

import re
from itertools import pairwise

import apsw
import pytest
from journal.kit import batch, draft, run, texts

from fsm.journal.chain import genesis, link
from fsm.journal.sqlite import CHUNK, SqliteJournal
from states.errors import InterlockError, JournalCorrupt
from states.ports import Draft
from states.records import Entry, UserInput


@pytest.fixture
def path(tmp_path):
    async def main():
        journal = SqliteJournal(tmp_path / "runs.db")
        for name in ("s", "t"):
            claim = await journal.claim(name, create=True)
            for number in range(1, 7):
                await journal.append(claim, batch(claim, f"{name}{number}"))
        await journal.close()

    run(main())
    return tmp_path / "runs.db"


def tamper(path, *statements):
    """As somebody would who knows that there are triggers."""
    connection = apsw.Connection(str(path))
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    for _, sql in triggers:
        connection.execute(sql)
    connection.close()


async def complaint(path, session="s"):
    journal = SqliteJournal(path)
    with pytest.raises(JournalCorrupt) as caught:
        await journal.read(session)
    assert texts(await journal.read("t")) == [f"t{n}" for n in range(1, 7)]
    await journal.close()
    return str(caught.value)


@pytest.mark.parametrize(
    ("statements", "seq", "what"),
    [
        (
            ["UPDATE journal SET body = CAST(replace(body, 's3', 'S3') AS BLOB) WHERE session_id = 's' AND seq = 3"],
            3,
            "digest",
        ),
        (["UPDATE journal SET at = at + 1 WHERE session_id = 's' AND seq = 2"], 2, "digest"),
        (["UPDATE journal SET fence = 7 WHERE session_id = 's' AND seq = 2"], 2, "digest"),
        (["UPDATE journal SET kind = 'tool_result' WHERE session_id = 's' AND seq = 6"], 6, "digest"),
        (["DELETE FROM journal WHERE session_id = 's' AND seq = 4"], 4, "missing; the next one that is there is 5"),
        (["DELETE FROM journal WHERE session_id = 's' AND seq = 1"], 1, "missing"),
        (["DELETE FROM journal WHERE session_id = 's' AND seq > 4"], 5, "missing, and all after it.*had 6 entries"),
        (["DELETE FROM journal WHERE session_id = 's'"], 1, "missing"),
        (["UPDATE session SET next_seq = 6 WHERE session_id = 's'"], 6, "put in from outside"),
        (["UPDATE session SET next_seq = 9 WHERE session_id = 's'"], 7, "missing"),
        (["UPDATE session SET digest = zeroblob(32) WHERE session_id = 's'"], 6, "head"),
        (["DELETE FROM session WHERE session_id = 's'"], 1, "head is missing"),
        (
            [  # two entries change places
                "UPDATE journal SET seq = 99 WHERE session_id = 's' AND seq = 2",
                "UPDATE journal SET seq = 2 WHERE session_id = 's' AND seq = 3",
                "UPDATE journal SET seq = 3 WHERE session_id = 's' AND seq = 99",
            ],
            2,
            "digest",
        ),
        (
            [  # the whole of another session, head and all
                "DELETE FROM journal WHERE session_id = 's'",
                "INSERT INTO journal SELECT NULL, 's', seq, fence, kind, at, seals, body, digest FROM journal",
                "UPDATE session SET digest = (SELECT digest FROM session WHERE session_id = 't')",
            ],
            1,
            "digest",
        ),
    ],
)
def test_an_edit_is_found_and_named(path, statements, seq, what):
    tamper(path, *statements)
    said = run(complaint(path))
    assert "'s'" in said
    assert str(seq) in said
    assert re.search(what, said)


def test_an_edit_with_a_digest_of_its_own_shows_at_the_next_entry_or_at_the_head(path):
    connection = apsw.Connection(str(path))
    query = "SELECT seq, fence, kind, at, body, digest FROM journal WHERE session_id = 's' ORDER BY seq"
    rows = connection.execute(query).fetchall()
    connection.close()
    body = b'{"kind":"user_input","text":"forged"}'
    for before, (seq, fence, kind, at, old_body, old_digest), expected in (
        (rows[2], rows[3], 5),
        (rows[4], rows[5], 6),
    ):
        forged = link(before[-1], seq, fence, kind=kind, at=at, body=body)
        edit = "UPDATE journal SET body = x'{}', digest = x'{}' WHERE session_id = 's' AND seq = {}"
        tamper(path, edit.format(body.hex(), forged.hex(), seq))
        assert f"entry {expected}" in run(complaint(path))
        tamper(path, edit.format(old_body.hex(), old_digest.hex(), seq))

    async def restored():
        journal = SqliteJournal(path)
        assert len(await journal.read("s")) == 6
        await journal.close()

    run(restored())


def test_a_body_that_is_no_record_is_named(path):
    async def main():
        journal = SqliteJournal(path)
        claim = await journal.claim("s")
        await journal.append(claim, [Draft(Entry(7, 0.0, claim.fence, UserInput("")), "haiku", b'{"kind":"haiku"}')])
        await journal.close()

    run(main())
    said = run(complaint(path))
    assert "entry 7" in said
    assert "haiku" in said


def test_every_flipped_byte_of_a_page_is_noticed_or_harmless(path):
    """Whatever is damaged: the same entries, or a clear error; never other entries, never a bare apsw error."""

    async def look(file):
        journal = SqliteJournal(file)
        try:
            return texts(await journal.read("s"))
        finally:
            await journal.close()

    whole = path.read_bytes()
    wanted = run(look(path))
    outcomes = {True: 0, False: 0}
    for position in range(100, len(whole), 211):
        damaged = bytearray(whole)
        damaged[position] ^= 0x55
        path.write_bytes(damaged)
        try:
            found = run(look(path))
        except InterlockError:
            outcomes[False] += 1
        else:
            assert found == wanted, position
            outcomes[True] += 1
    assert min(outcomes.values()) > 5


def test_damage_below_the_tables_names_the_session(path):
    content = bytearray(path.read_bytes())
    place = content.rindex(b'"text":"s4"')
    page = place // 8192 * 8192
    content[page : page + 8] = b"\xff" * 8
    path.write_bytes(content)

    async def main():
        journal = SqliteJournal(path)
        with pytest.raises(JournalCorrupt, match=r"session 's', entry 1 or after.*damaged"):
            await journal.read("s")
        await journal.close()

    run(main())


def test_a_log_that_was_cut_anywhere_leaves_whole_batches(fast_home):
    """As after a kill: nothing merged yet. SQLite drops what it cannot read to the end, and we read the rest."""

    async def main():
        journal = SqliteJournal(fast_home / "runs.db")
        claim = await journal.claim("s", create=True)
        for number in range(6):
            await journal.append(claim, batch(claim, f"{number} first", f"{number} second"))
        main_file, log = (fast_home / "runs.db").read_bytes(), (fast_home / "runs.db-wal").read_bytes()
        await journal.close()
        lengths = set()
        for number, size in enumerate([*range(0, len(log), 1999), len(log)]):
            home = fast_home / str(number)
            home.mkdir()
            (home / "runs.db").write_bytes(main_file)
            (home / "runs.db-wal").write_bytes(log[:size])
            cut = SqliteJournal(home / "runs.db")
            claim = await cut.claim("s", create=True)
            found = texts(await cut.read("s"))
            assert found == [f"{n} {half}" for n in range(6) for half in ("first", "second")][: len(found)]
            await cut.append(claim, batch(claim, "on"))
            await cut.close()
            lengths.add(len(found))
        assert lengths == set(range(0, 13, 2))

    run(main())


def test_a_long_journal_is_read_across_chunks(tmp_path):
    async def main():
        journal = SqliteJournal(tmp_path / "runs.db")
        claim = await journal.claim("s", create=True)
        count = 2 * CHUNK + 1
        await journal.append(claim, [draft(claim, UserInput(str(n)), ahead=n) for n in range(count)])
        entries = await journal.read("s")
        assert len(entries) == count
        assert all(b.seq == a.seq + 1 for a, b in pairwise(entries))
        await journal.close()
        tamper(journal.path, f"DELETE FROM journal WHERE seq = {CHUNK + 1}")
        again = SqliteJournal(journal.path)
        with pytest.raises(JournalCorrupt, match=f"entry {CHUNK + 1}"):
            await again.read("s")
        await again.close()

    run(main())


def test_the_digest_covers_every_part_and_its_place():
    base = {"before": genesis("s"), "seq": 1, "fence": 1, "kind": "ab", "at": 1.0, "body": b"cd"}
    others = [
        base | {"before": genesis("t")},
        base | {"seq": 2},
        base | {"fence": 2},
        base | {"at": 1.0000000001},
        base | {"kind": "abc", "body": b"d"},
        base | {"kind": "a", "body": b"bcd"},
        base | {"body": b"cd\0"},
    ]
    digests = {link(**parts) for parts in [base, *others]}
    assert len(digests) == len(others) + 1
    assert link(**base).hex() == link(**base).hex()
    assert link(**base | {"at": 0.0}) == link(**base | {"at": -0.0})
