"""What an audit finds: every record that was changed, dropped or put in, where anything in the journal can tell."""

import asyncio

import apsw
import attrs
import pytest

from fsm import Contract, Loop, table, workspace_tools
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.journal import open_journal
from fsm.journal.chain import genesis, link
from fsm.providers.scripted import Scripted, asks_for, says
from states.codec import encode, kind_of
from states.names import State
from states.records import (
    AssistantTurn,
    Entry,
    Evidence,
    Failed,
    Finalized,
    RunStarted,
    StopAnswer,
    Suspended,
    ToolIntent,
    Transition,
    Verdict,
)
from states.verdicts import Fail, Pass, WaitsFor


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """A run that was sent back for a missing test, and a second one in its session that failed."""
    root = tmp_path_factory.mktemp("work")
    turns = [
        asks_for(("write_file", {"path": "a.txt", "content": "a"})),
        says("Done."),
        asks_for(("bash", {"command": "true"})),
        says("Done, and checked."),
        *(says(f"Nothing to do, {number}.") for number in range(9)),
    ]

    async def play():
        async with Loop(
            provider=Scripted(turns),
            tools=workspace_tools(root, root / ".interlock"),
            workspace=root,
            journal=":memory:",
            contract=Contract(commands=["true"]),
        ) as loop:
            assert (await loop.run("write it", session="s")).succeeded
            (root / "a.txt").write_text("b")
            assert (await loop.resume("s", "again")).reason == "verification_failed"
            return await loop.journal.read("s")

    return asyncio.run(play())


def changed(entries, place, **fields):
    entry = entries[place]
    forged = attrs.evolve(entry, record=attrs.evolve(entry.record, **fields))
    return [*entries[:place], forged, *entries[place + 1 :]]


def places(entries, kind):
    return [place for place, entry in enumerate(entries) if isinstance(entry.record, kind)]


def renumbered(entries):
    return [attrs.evolve(entry, seq=seq) for seq, entry in enumerate(entries, 1)]


def objections(entries):
    """What an audit says, and that it names a record."""
    found = audit(GRAPH, entries, "s")
    assert all(complaint.startswith("record ") for complaint in found)
    return found


def test_an_honest_journal_has_nothing_to_object_to(entries):
    assert {type(entry.record) for entry in entries} >= {Finalized, Failed, Evidence, Verdict, Transition}
    assert audit(GRAPH, entries, "s") == []


def test_every_forged_verdict_is_found(entries):
    for place in places(entries, Verdict):
        ruling = entries[place].record.ruling
        forged = Fail("forged", "forged") if isinstance(ruling, Pass) else Pass()
        assert objections(changed(entries, place, ruling=forged))
        assert objections(changed(entries, place, gate="somebody"))


def test_every_forged_move_is_found(entries):
    for place in places(entries, Transition):
        record = entries[place].record
        other = State.SUCCEEDED if record.target is not State.SUCCEEDED else State.FAILED
        assert objections(changed(entries, place, target=other))
        assert objections(changed(entries, place, rests_on=record.rests_on[:1]))


@pytest.mark.parametrize("kind", [Verdict, Transition, Finalized, Failed])
def test_every_dropped_record_is_found(entries, kind):
    for place in places(entries, kind):
        assert objections(renumbered(entries[:place] + entries[place + 1 :]))


@pytest.mark.parametrize(
    "record",
    [
        Verdict("checks_passed", Pass()),
        Failed("stuck", "forged"),
        Suspended(WaitsFor.ANSWER, "forged"),
        Transition(State.PROVIDER_TURN, "replied", State.SUCCEEDED),
    ],
    ids=kind_of,
)
def test_a_record_that_was_put_in_is_found_wherever_it_stands(entries, record):
    for place in range(1, len(entries)):
        put = attrs.evolve(entries[place], record=record)
        assert objections(renumbered([*entries[:place], put, *entries[place:]]))


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        (Finalized, {"text": "Something else."}, "the receipt's text"),
        (Finalized, {"verdicts": ()}, "the receipt's verdicts"),
        (Finalized, {"evidence": ()}, "the receipt's evidence"),
        (Finalized, {"revision": "0" * 64}, "gate receipt_holds rules retry"),
        (Evidence, {"exit_status": 3}, "does not show"),
        (Evidence, {"command": "false"}, "does not show"),
        (Evidence, {"result": 1}, "shows no command"),
        (Evidence, {"kinds": ("test",)}, "is no proof of test"),
        (ToolIntent, {"arguments": '{"command":"rm"}'}, "the model asked for"),
        (StopAnswer, {"sealed": 7}, "inputs are sealed up to 7"),
        (AssistantTurn, {"saw": 999}, "did not exist yet"),
        (Failed, {"code": "stuck"}, "gave another reason"),
    ],
)
def test_a_forged_fact_is_found(entries, kind, fields, said):
    place = places(entries, kind)[0]

    assert said in " ".join(objections(changed(entries, place, **fields)))


def test_a_contract_that_was_made_easier_is_found(entries):
    place = places(entries, RunStarted)[0]

    assert "checks_passed" in objections(changed(entries, place, contract=Contract()))[0]


def test_a_run_of_another_table_is_called_that(entries):
    other = table(at_verify=(), at_stop=())

    (complaint,) = audit(other, entries, "s")
    assert "made with another table" in complaint


def test_a_journal_that_ends_between_an_event_and_its_move_is_found(entries):
    place = places(entries, Transition)[0]

    assert "calls for a move" in objections(entries[: place - 1])[-1]


# --- the command ------------------------------------------------------------------------------------------------


def raw(interlock):
    """The journal's file, with its protection taken off."""
    connection = apsw.Connection(str(interlock.workspace / ".interlock" / "journal.db"))
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    return connection


def forge(interlock, entries):
    """Write these entries in place of the session's, with a chain that holds."""
    connection = raw(interlock)
    connection.execute("DELETE FROM journal")
    digest = genesis("s")
    for entry in entries:
        body, kind = encode(entry.record), kind_of(entry.record)
        digest = link(digest, entry.seq, entry.fence, kind=kind, at=entry.at, body=body)
        connection.execute(
            "INSERT INTO journal(session_id, seq, fence, kind, at, body, digest) VALUES ('s', ?, ?, ?, ?, ?, ?)",
            (entry.seq, entry.fence, kind, entry.at, body, digest),
        )
    connection.execute("UPDATE session SET digest = ?, next_seq = ?", (digest, len(entries) + 1))
    connection.close()


def stored(interlock) -> list[Entry]:
    async def read():
        journal = open_journal(interlock.workspace / ".interlock" / "journal.db")
        try:
            return await journal.read("s")
        finally:
            await journal.close()

    return asyncio.run(read())


@pytest.mark.forged
def test_an_edited_journal_breaks_its_chain(session):
    connection = raw(session)
    connection.execute(
        "UPDATE journal SET body = CAST(replace(body, 'subtracts', 'adds') AS BLOB) WHERE kind = 'finalized'"
    )
    assert connection.changes() == 1
    connection.close()
    done = session("audit", "s")

    assert done.returncode == 1
    assert "its digest does not match" in done.stderr


@pytest.mark.forged
def test_an_edited_journal_with_a_chain_computed_anew_is_not_justified(session):
    entries = stored(session)
    place = places(entries, Finalized)[0]
    forge(session, changed(entries, place, text="I did everything."))
    done = session("audit", "s")

    assert done.returncode == 1
    assert f"unjustified: record {place + 1}: the receipt's text is not what the run shows" in done.stdout


def test_the_summary_counts_what_is_there(session):
    entries = stored(session)
    done = session("audit", "s")

    verdicts, moves = len(places(entries, Verdict)), len(places(entries, Transition))
    connection = raw(session)
    ((head,),) = connection.execute("SELECT digest FROM session").fetchall()
    connection.close()
    assert f"head of the chain: {head.hex()}" in done.stdout
    assert f"{len(entries)} entries, 2 turns, 1 results, {verdicts} verdicts, {moves} transitions" in done.stdout


def test_a_users_own_table_is_given_by_name(session):
    (session.workspace / "mine.py").write_text("from fsm import table\nOTHER = table(at_verify=())\nNUMBER = 3\n")

    assert "made with another table" in session("audit", "s", "--graph", "mine:OTHER").stdout
    for name, said in [("mine:NUMBER", "is no table"), ("mine:NONE", "no 'NONE'"), ("none:X", "cannot be imported")]:
        done = session("audit", "s", "--graph", name)
        assert (done.returncode, said in done.stderr) == (2, True)


def test_a_journal_that_has_lost_its_triggers_is_reported(session, interlock, workspace):
    connection = apsw.Connection(str(workspace / ".interlock" / "journal.db"))
    connection.execute("DROP TRIGGER journal_no_update")
    connection.close()

    done = interlock("audit", "s")

    assert done.returncode == 1
    assert "journal_no_update is missing or was changed" in done.stdout
