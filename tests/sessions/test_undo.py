"""What file tools changed is listed, and can be taken back: exactly, on record, and never over somebody else's work."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.bench import story

from fsm import Loop, workspace_tools
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.providers.scripted import Scripted, asks_for, says
from states.errors import ConfigError, SessionBusy
from states.messages import UserMessage
from states.records import FileChange, ToolResult, Undone

ROOT = Path(__file__).parents[2]


def write(path, content):
    return asks_for(("write_file", {"path": path, "content": content}))


def edit(path, old, new):
    return asks_for(("edit_file", {"path": path, "old_string": old, "new_string": new}))


TURNS = (write("a.txt", "one"), edit("a.txt", "one", "two"), write("sub/b.txt", "new"), says("done"))


def loop_in(root, *turns):
    return Loop(provider=Scripted(turns), tools=workspace_tools(root), workspace=root)


async def changed(root, *turns):
    loop = loop_in(root, *(turns or TURNS))
    result = await loop.run("change it", session="s")
    assert result.succeeded
    return loop, [change.seq for change in await loop.changes("s")]


def files(root):
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".interlock" not in path.parts
    }


def test_changes_are_listed_and_taken_back_to_any_of_them(tmp_path):
    (tmp_path / "a.txt").write_text("original")
    (tmp_path / "other.txt").write_text("untouched")

    async def tale():
        loop, seqs = await changed(tmp_path)
        listed = [(change.by, change.file.path) for change in await loop.changes("s")]
        before_edit = await loop.undo("s", to=seqs[1])
        between = files(tmp_path)
        before_all = await loop.undo("s", to=seqs[0])
        entries = await loop.journal.read("s")
        await loop.close()
        return listed, before_edit, between, before_all, entries

    listed, before_edit, between, before_all, entries = story(tale())
    assert listed == [("write_file", "a.txt"), ("edit_file", "a.txt"), ("write_file", "sub/b.txt")]
    assert [file.path for file in before_edit] == ["a.txt", "sub/b.txt"]
    assert between == {"a.txt": "one", "other.txt": "untouched"}
    assert files(tmp_path) == {"a.txt": "original", "other.txt": "untouched"}
    assert [file.path for file in before_all] == ["a.txt"]
    assert sum(isinstance(entry.record, Undone) for entry in entries) == 2
    assert audit(GRAPH, entries) == []


def test_an_undo_can_be_undone_and_the_model_is_told(tmp_path):
    async def tale():
        loop, seqs = await changed(tmp_path)
        await loop.undo("s", to=seqs[0])
        gone = files(tmp_path)
        undone = (await loop.changes("s"))[-1].seq
        await loop.undo("s", to=undone)
        loop._providers = (Scripted([says("I see")]),)
        await loop.resume("s", "look again")
        await loop.close()
        return gone, loop._providers[0].requests[0].messages

    gone, messages = story(tale())
    assert gone == {}
    assert files(tmp_path) == {"a.txt": "two", "sub/b.txt": "new"}
    assert any(isinstance(m, UserMessage) and "undone changes" in m.text and "a.txt" in m.text for m in messages)


def test_a_file_that_somebody_else_changed_since_is_left_alone_and_so_is_everything_else(tmp_path):
    async def tale():
        loop, seqs = await changed(tmp_path)
        (tmp_path / "a.txt").write_text("mine")
        with pytest.raises(ConfigError, match=r"a\.txt was changed since by somebody else; .* --force"):
            await loop.undo("s", to=seqs[0])
        kept = files(tmp_path)
        await loop.undo("s", to=seqs[0], force=True)
        forced = files(tmp_path)
        await loop.undo("s", to=(await loop.changes("s"))[-1].seq)
        await loop.close()
        return kept, forced

    kept, forced = story(tale())
    assert kept == {"a.txt": "mine", "sub/b.txt": "new"}
    assert forced == {}
    assert files(tmp_path)["a.txt"] == "mine", "even what was forced away can be had back"


def test_a_damaged_copy_is_seen_and_nothing_is_changed(tmp_path):
    (tmp_path / "a.txt").write_text("original")

    async def tale():
        loop, seqs = await changed(tmp_path)
        for copy in (tmp_path / ".interlock" / "backups" / "s").iterdir():
            copy.write_text("torn")
        with pytest.raises(ConfigError, match=r"the copy of a\.txt as it was before is gone"):
            await loop.undo("s", to=seqs[0])
        await loop.close()

    story(tale())
    assert files(tmp_path)["a.txt"] == "two"


def test_the_mode_of_a_file_outlives_it_all(tmp_path):
    script = tmp_path / "run.sh"
    script.write_text("one")
    script.chmod(0o755)

    async def tale():
        loop, seqs = await changed(tmp_path, edit("run.sh", "one", "two"), says("done"))
        await loop.undo("s", to=seqs[0])
        await loop.close()

    story(tale())
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("one", 0o755)


def test_what_makes_no_sense_is_refused(tmp_path):
    async def tale():
        loop, _ = await changed(tmp_path)
        with pytest.raises(ConfigError, match=r"records 1 to \d+; 0 is none"):
            await loop.undo("s", to=0)
        other = loop_in(tmp_path)
        claim = await other.journal.claim("s")
        with pytest.raises(SessionBusy):
            await loop.undo("s", to=1)
        await other.journal.release(claim)
        with pytest.raises(ConfigError, match="needs the folder"):
            await Loop(provider=Scripted([]), journal=loop.journal).undo("s", to=1)
        await other.close()
        await loop.close()

    story(tale())


DIES = """
import os, signal, sys
from pathlib import Path
from fsm import Loop
from fsm.providers.scripted import Scripted
from fsm.sessions import changes
from fsm.tools.files import replace
import asyncio

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

root, to, where = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if where == "before":
    changes.Undo.carry_out = die
else:
    real = changes.Undo._restore
    def once(self, *parts):
        real(self, *parts)
        die()
    changes.Undo._restore = once
asyncio.run(Loop(provider=Scripted([]), workspace=root).undo("s", to=to))
"""


@pytest.mark.parametrize("where", ["before", "between"])
def test_an_undo_whose_process_is_killed_is_finished_by_the_next_one(tmp_path, where):
    (tmp_path / "a.txt").write_text("original")

    async def first():
        loop, seqs = await changed(tmp_path)
        await loop.close()
        return seqs

    async def again(to):
        loop = loop_in(tmp_path)
        await loop.undo("s", to=to)
        entries = await loop.journal.read("s")
        await loop.close()
        return entries

    seqs = story(first())
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    died = subprocess.run([sys.executable, "-c", DIES, tmp_path, str(seqs[0]), where], env=env, check=False, timeout=60)
    assert died.returncode == -signal.SIGKILL
    entries = story(again(seqs[0]))
    assert files(tmp_path) == {"a.txt": "original"}
    assert audit(GRAPH, entries) == []


def test_an_edit_whose_result_was_lost_is_still_taken_back(tmp_path):
    """The tool's own check finds that it happened, and its result names the change."""
    (tmp_path / "a.txt").write_text("one")
    code = """
import asyncio, os, signal, sys
from fsm import Loop, workspace_tools
from fsm.providers.scripted import Scripted, asks_for, says
from fsm.tools.files import write

real = write.replace
def dies(*parts):
    real(*parts)
    os.kill(os.getpid(), signal.SIGKILL)
write.replace = dies
edit = asks_for(("edit_file", {"path": "a.txt", "old_string": "one", "new_string": "two"}))
loop = Loop(provider=Scripted([edit]), tools=workspace_tools(sys.argv[1]), workspace=sys.argv[1])
asyncio.run(loop.run("change it", session="s"))
"""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code, tmp_path], env=env, check=False, timeout=60).returncode == -9
    assert (tmp_path / "a.txt").read_text() == "two"

    async def tale():
        loop = loop_in(tmp_path, says("done"))
        await loop.resume("s")
        (change,) = await loop.changes("s")
        await loop.undo("s", to=change.seq)
        results = [e.record for e in await loop.journal.read("s") if isinstance(e.record, ToolResult)]
        await loop.close()
        return change, results

    change, (result,) = story(tale())
    assert (change.by, change.file.path, result.metadata["recovered"]) == ("edit_file", "a.txt", True)
    assert (tmp_path / "a.txt").read_text() == "one"
    assert isinstance(change.file, FileChange)


def test_a_command_finds_the_scratch_directory_of_its_session_and_it_goes_with_it(tmp_path):
    async def tale():
        loop = loop_in(tmp_path, asks_for(("bash", {"command": "echo x > $INTERLOCK_SCRATCH/f"})), says("done"))
        await loop.run("go", session="s")
        there = (tmp_path / ".interlock" / "scratch" / "s" / "f").read_text()
        await loop.delete("s")
        await loop.close()
        return there

    assert story(tale()) == "x\n"
    assert not (tmp_path / ".interlock" / "scratch" / "s").exists()
    assert not (tmp_path / ".interlock" / "backups" / "s").exists()
