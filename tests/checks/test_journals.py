"""What was really written is replayed, and what does not follow from itself is named."""

import shutil

import apsw
import pytest

from fsm.checks import Broken, journals
from fsm.loop import Loop
from fsm.providers import Scripted
from fsm.providers.scripted import says
from states.names import State


@pytest.fixture
def written(tmp_path):
    """Two journals, one below the other, and files that are none."""
    for path in (tmp_path / "runs.db", tmp_path / "below" / "runs.db"):
        Loop(provider=Scripted([says("Done.")]), journal=str(path)).run_sync("Say done.", session="s")
    (tmp_path / "notes.db").write_text("no database")
    apsw.Connection(str(tmp_path / "other.db")).execute("CREATE TABLE t (x)")
    return tmp_path


def test_every_session_of_every_journal_is_replayed(written):
    replayed = journals.check(written)

    assert (replayed.journals, replayed.sessions) == (2, {State.SUCCEEDED: 2})
    assert replayed.records > 20
    assert str(replayed) == f"2 journals, 2 sessions (2 succeeded), {replayed.records} records"


@pytest.mark.forged
def test_what_does_not_follow_is_named_with_its_file_and_session(written):
    path = written / "below" / "runs.db"
    connection = apsw.Connection(str(path))
    for (trigger,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("DELETE FROM journal WHERE seq = 3")
    connection.close()

    with pytest.raises(Broken, match=r"1 things in .* do not follow") as caught:
        journals.check(written)
    assert caught.value.trace[0].startswith(f"{path}: session s: session 's', entry 3: it is missing")

    (path.parent / journals.FORGED).touch()
    assert journals.check(written).journals == 1


def test_a_table_that_the_runs_were_not_made_with_does_not_justify_them(written):
    from fsm import default_graph
    from gates.ready import HumanApproval

    shutil.rmtree(written / "below")
    with pytest.raises(Broken, match="do not follow"):
        journals.check(written, default_graph().with_gate(HumanApproval(), state="verify"))
