"""Whether a write happened can be told after a crash, and a crash never leaves half a file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.bench import Bench

from fsm.tools.files import replace as replacing
from fsm.tools.files.confined import Confined
from fsm.tools.files.effects import KEPT, Effects, Receipt, digest
from fsm.tools.files.replace import replace
from states.ports import ToolOutput
from states.records import Status

WRITE = {"path": "a.txt", "content": "new"}
CHANGED = {"path": "a.txt", "before": digest(b"old"), "after": digest(b"new")}
SAID = ToolOutput(Status.OK, "Replaced a.txt (3 bytes).", {"changed": [CHANGED]})


class Lost(BaseException):
    """Stands for the end of the process: nothing in the tool may catch it."""


def lost_at(monkeypatch, bench, step):
    """Run the write until `step`, as if the process had died there: no clean-up runs."""

    def die(*_, **__):
        raise Lost

    monkeypatch.setattr(replacing, "remove_draft", lambda *_: None)
    monkeypatch.setattr(replacing.os, step, die)
    with Confined(bench.root).place("a.txt") as place, pytest.raises(Lost):
        replace(place, b"new", b"old", (Effects(bench.state), "s:7", SAID.text))
    monkeypatch.undo()


def test_without_a_receipt_it_did_not_happen(bench):
    bench.file("a.txt", "old")

    assert bench.reconcile("write_file", "s:7", **WRITE) is None


def test_after_a_finished_write_the_same_output_is_found_again(bench):
    bench.file("a.txt", "old")

    assert bench.run("write_file", key="s:7", **WRITE) == SAID
    assert bench.reconcile("write_file", "s:7", **WRITE) == SAID


def test_a_write_lost_before_the_rename_did_not_happen_and_can_be_done_again(bench, monkeypatch):
    path = bench.file("a.txt", "old")
    lost_at(monkeypatch, bench, "rename")

    assert len(list(bench.root.glob(".interlock-*.tmp"))) == 1
    assert bench.reconcile("write_file", "s:7", **WRITE) is None
    assert not list(bench.root.glob(".interlock-*.tmp"))
    assert path.read_text() == "old"
    assert bench.run("write_file", key="s:7", **WRITE) == SAID


def test_a_write_lost_after_the_rename_happened(bench, monkeypatch):
    path = bench.file("a.txt", "old")
    rename = os.rename
    happened = []

    def rename_and_die(*arguments, **options):
        rename(*arguments, **options)
        happened.append(True)
        raise Lost

    monkeypatch.setattr(replacing.os, "rename", rename_and_die)
    with Confined(bench.root).place("a.txt") as place, pytest.raises(Lost):
        replace(place, b"new", b"old", (Effects(bench.state), "s:7", SAID.text))
    monkeypatch.undo()

    assert happened
    assert path.read_text() == "new"
    assert bench.reconcile("write_file", "s:7", **WRITE) == SAID


def test_a_file_that_somebody_else_changed_since_makes_the_outcome_unknown(bench):
    path = bench.file("a.txt", "old")
    bench.run("write_file", key="s:7", **WRITE)
    path.write_text("third")
    output = bench.reconcile("write_file", "s:7", **WRITE)

    assert output.status is Status.UNKNOWN
    assert "a.txt" in output.text


@pytest.mark.parametrize("become", ["directory", "fifo", "outside"])
def test_a_path_that_is_no_file_any_more_makes_the_outcome_unknown(bench, become):
    path = bench.file("a.txt", "old")
    bench.run("write_file", key="s:7", **WRITE)
    path.unlink()
    if become == "directory":
        path.mkdir()
    elif become == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(bench.outside / "x")

    assert bench.reconcile("write_file", "s:7", **WRITE).status is Status.UNKNOWN


def test_a_new_file_that_is_not_there_was_not_written(bench):
    bench.run("write_file", key="s:7", **WRITE)
    (bench.root / "a.txt").unlink()

    assert bench.reconcile("write_file", "s:7", **WRITE) is None


@pytest.mark.parametrize("body", ["", "{", "[1]", '{"path": "a.txt"}'])
def test_a_damaged_receipt_makes_the_outcome_unknown(bench, body):
    bench.run("write_file", key="s:7", **WRITE)
    (bench.state / "effects" / "s" / "7.json").write_text(body)

    assert bench.reconcile("write_file", "s:7", **WRITE).status is Status.UNKNOWN


def test_an_edit_is_reconciled_too(bench):
    bench.file("a.txt", "old")
    edit = {"path": "a.txt", "old_string": "old", "new_string": "new"}
    output = bench.run("edit_file", key="s:7", **edit)

    assert bench.reconcile("edit_file", "s:7", **edit) == output
    (bench.root / "a.txt").write_text("old")
    assert bench.reconcile("edit_file", "s:7", **edit) is None


def test_a_file_changed_between_reading_and_writing_is_left_alone(bench, monkeypatch):
    path = bench.file("a.txt", "old and more")
    fsync, changed = os.fsync, []

    def meddle(descriptor):
        if not changed:
            changed.append(True)
            path.write_text("theirs")
        fsync(descriptor)

    monkeypatch.setattr(replacing.os, "fsync", meddle)
    output = bench.run("edit_file", path="a.txt", old_string="old", new_string="new")

    assert output.status is Status.ERROR
    assert "changed by somebody else" in output.text
    assert path.read_text() == "theirs"
    assert not list(bench.root.glob(".interlock-*.tmp"))


def test_receipts_are_bounded_per_session_and_the_newest_stay(tmp_path):
    effects = Effects(tmp_path)
    for number in [*range(KEPT + 20), 5000]:
        effects.record(f"s:{number}", Receipt("a", None, "d", "said"))
    effects.record("other/../s:1", Receipt("a", None, "d", "said"))

    assert len(list((tmp_path / "effects" / "s").glob("*.json"))) == KEPT
    assert effects.find("s:20") is None
    assert effects.find("s:21") == Receipt("a", None, "d", "said")
    assert effects.find("s:5000") == effects.find("other/../s:1") == Receipt("a", None, "d", "said")
    assert {path.parent.parent for path in tmp_path.rglob("*.json")} == {tmp_path / "effects"}


CHILD = """
import asyncio, sys
from pathlib import Path
from fsm.tools import Tools, workspace_tools
from states.ports import ToolRun
root = Path(sys.argv[1])
tools = Tools(workspace_tools(root, root / ".interlock"))
async def main():
    for n in range(1, 10_000):
        text = str(n % 10) * 200_000
        await tools.run(ToolRun("write_file", {"path": "a.txt", "content": text}, f"s:{n}"))
        print(n, flush=True)
asyncio.run(main())
"""


@pytest.mark.parametrize("seen", [1, 3, 6])
def test_kill_9_in_the_middle_of_writing_leaves_one_whole_content(bench: Bench, seen):
    project = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(bench.root)], stdout=subprocess.PIPE, cwd=project, text=True
    ) as child:
        for _ in range(seen):
            last = int(child.stdout.readline())
        child.kill()
        last = int((child.stdout.read().split() or [last])[-1])
    content = (bench.root / "a.txt").read_text()

    assert len(content) == 200_000
    assert content[0] in {str(last % 10), str((last + 1) % 10)}
    assert set(content) == {content[0]}
    following = {"path": "a.txt", "content": str((last + 1) % 10) * 200_000}
    outcome = bench.reconcile("write_file", f"s:{last + 1}", **following)
    if content == following["content"]:
        assert outcome.status is Status.OK
    else:
        assert outcome is None
    assert not list(bench.root.glob(".interlock-*.tmp")) or outcome is None
    assert json.loads((bench.state / "effects" / "s" / f"{last}.json").read_text())["path"] == "a.txt"
