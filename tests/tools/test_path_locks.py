"""Writers of one file, in whatever session of this process, wait for each other."""

import asyncio
import threading

import pytest

from fsm import workspace_tools
from fsm.tools import Tools
from fsm.tools.context import ToolError
from fsm.tools.files.path_locks import _LINES, alone
from states.ports import ToolRun
from states.records import Status

WRITERS = 12


def test_edits_of_one_file_by_many_sessions_all_count(tmp_path):
    (tmp_path / "list").write_text("]")
    (tmp_path / "also").symlink_to("list")
    boxes = [Tools(workspace_tools(tmp_path)) for _ in range(WRITERS)]

    async def edit(number):
        path = "also" if number % 2 else "list"
        arguments = {"path": path, "old_string": "]", "new_string": f"{number},]"}
        return await boxes[number].run(ToolRun("edit_file", arguments, f"s{number}:1"))

    async def every():
        return await asyncio.gather(*map(edit, range(WRITERS)))

    outputs = asyncio.run(every())
    assert [output.status for output in outputs] == [Status.OK] * WRITERS
    assert sorted(map(int, (tmp_path / "list").read_text()[:-2].split(","))) == list(range(WRITERS))
    assert _LINES == {}


def test_a_writer_that_is_stopped_while_it_waits_has_not_started(tmp_path):
    stopped = threading.Event()
    with alone(tmp_path / "a", lambda: False):
        stopped.set()
        with pytest.raises(ToolError, match="Not started"), alone(tmp_path / "a", stopped.is_set):
            pytest.fail("two writers at once")
    assert _LINES == {}


def test_another_file_is_nobodys_concern(tmp_path):
    with alone(tmp_path / "a", lambda: False), alone(tmp_path / "b", lambda: True):
        assert len(_LINES) == 2
