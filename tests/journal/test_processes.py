"""Several processes on one file: who runs a session, who took it over, and what a killed one leaves."""

import json
import os
import random
import signal
import socket

import apsw
import pytest
from journal.kit import batch, python, run, texts

from fsm.journal.sqlite import SqliteJournal
from states.errors import SessionBusy


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


HOLD = """
import asyncio, sys
from fsm.journal.sqlite import SqliteJournal
from journal.kit import batch

async def main():
    journal = SqliteJournal(sys.argv[1])
    claim = await journal.claim("s", create=True)
    await journal.append(claim, batch(claim, "theirs"))
    print("held", flush=True)
    sys.stdin.readline()

asyncio.run(main())
"""


def test_a_session_is_busy_while_its_owner_lives_and_free_when_it_is_killed(path):
    owner = python(HOLD, path)
    assert owner.stdout.readline() == "held\n"

    async def main():
        journal = SqliteJournal(path)
        with pytest.raises(SessionBusy, match=f"process {owner.pid} on {socket.gethostname()}"):
            await journal.claim("s")
        (info,) = await journal.sessions()
        assert (info.session, info.entries, info.owner) == ("s", 1, f"process {owner.pid} on {socket.gethostname()}")
        await journal.post("s", "hello from outside")
        owner.kill()
        owner.communicate()
        (info,) = await journal.sessions()
        assert info.owner == ""
        claim = await journal.claim("s")
        assert (claim.fence, claim.next_seq) == (2, 2)
        await journal.append(claim, batch(claim, "ours"))
        assert texts(await journal.read("s")) == ["theirs", "ours"]
        await journal.close()

    run(main())


def test_two_journals_of_one_process_exclude_each_other(path):
    async def main():
        journal, other = SqliteJournal(path), SqliteJournal(path)
        claim = await journal.claim("s", create=True)
        for each in (journal, other):
            with pytest.raises(SessionBusy, match="another task of this very process"):
                await each.claim("s")
        assert os.get_inheritable(journal._held[claim].descriptor) is False
        await journal.release(claim)
        assert [info.owner for info in await other.sessions()] == [""]
        mine = await other.claim("s")
        with pytest.raises(SessionBusy):
            await journal.claim("s")
        await other.append(mine, batch(mine, "one"))
        await other.close()
        await journal.claim("s")
        await journal.close()

    run(main())


def together(processes):
    """Let all of them go once each is ready; what they printed then."""
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.communicate()[0] for process in processes]


TAKE_TURNS = """
import asyncio, json, random, sys
from pathlib import Path
from fsm.journal.sqlite import SqliteJournal
from journal.kit import batch
from states.errors import Fenced, SessionBusy

path, seed, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
dice = random.Random(seed)

async def main():
    journal = SqliteJournal(path)
    acknowledged, fenced = [], 0
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(rounds):
        for lock in Path(path + ".locks").iterdir():
            lock.unlink(missing_ok=True)  # robs the owner of its lock: only the fence is left
        try:
            claim = await journal.claim("s", create=True)
        except SessionBusy:
            continue
        try:
            for _ in range(dice.randrange(1, 15)):
                await journal.append(claim, batch(claim, f"{seed}"))
                acknowledged.append((claim.next_seq - 1, claim.fence))
        except Fenced:
            fenced += 1
        await journal.release(claim)
    await journal.close()
    print(json.dumps([acknowledged, fenced]))

asyncio.run(main())
"""


def test_processes_that_rob_each_other_never_both_write(path):
    async def create():
        journal = SqliteJournal(path)
        await journal.claim("s", create=True)
        await journal.close()

    run(create())
    processes = [python(TAKE_TURNS, path, n, 60) for n in range(3)]
    results = [json.loads(out) for out in together(processes)]

    async def check():
        journal = SqliteJournal(path)
        entries = await journal.read("s")
        await journal.close()
        acknowledged = sorted(tuple(pair) for acks, _ in results for pair in acks)
        assert acknowledged == [(entry.seq, entry.fence) for entry in entries]
        fences = [entry.fence for entry in entries]
        assert fences == sorted(fences)
        assert len(set(fences)) > 3
        assert sum(fenced for _, fenced in results) > 0

    run(check())


CREATE_AND_WRITE = """
import asyncio, sys
from fsm.journal.sqlite import SqliteJournal
from journal.kit import batch

async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    for file in range(10):
        journal = SqliteJournal(sys.argv[1] + str(file))
        claim = await journal.claim(sys.argv[2], create=True)
        for number in range(3):
            await journal.append(claim, batch(claim, str(number)))
        await journal.close()
    print("done")

asyncio.run(main())
"""


def test_processes_that_make_the_file_at_once_share_it(path):
    processes = [python(CREATE_AND_WRITE, path, f"s{n}") for n in range(4)]
    assert together(processes) == ["done\n"] * 4

    async def check():
        for file in range(10):
            journal = SqliteJournal(f"{path}{file}")
            for number in range(4):
                assert texts(await journal.read(f"s{number}")) == ["0", "1", "2"]
            await journal.close()

    run(check())


APPEND_FOR_EVER = """
import asyncio, sys
from fsm.journal.sqlite import SqliteJournal
from journal.kit import batch

async def main():
    journal = SqliteJournal(sys.argv[1])
    claim = await journal.claim("s", create=True)
    print(claim.next_seq - 1, flush=True)
    while True:
        await journal.append(claim, batch(claim, "x" * 3000, "y" * 3000))
        print(claim.next_seq - 1, flush=True)

asyncio.run(main())
"""


def test_killed_in_the_middle_nothing_acknowledged_is_lost(path):
    dice = random.Random(5)
    acknowledged = 0
    for _ in range(5):
        process = python(APPEND_FOR_EVER, path)
        for _ in range(dice.randrange(1, 60)):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        lines = [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
        acknowledged = max(acknowledged, *(int(line) for line in lines), 0) if lines else acknowledged

        async def check(least):
            journal = SqliteJournal(path)
            entries = await journal.read("s")
            assert len(entries) >= least
            assert len(entries) % 2 == 0, "half a batch"
            await journal.close()
            return len(entries)

        acknowledged = run(check(acknowledged))
    assert acknowledged > 20
    connection = apsw.Connection(str(path))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


def test_one_process_reads_while_another_writes(path):
    writer = python(APPEND_FOR_EVER, path)
    writer.stdout.readline()

    async def main():
        journal = SqliteJournal(path)
        for _ in range(60):
            acknowledged = int(writer.stdout.readline())
            entries = await journal.read("s")
            assert len(entries) >= acknowledged
            assert len(entries) % 2 == 0, "half a batch"
        await journal.close()

    run(main())
    writer.kill()
    writer.communicate()
