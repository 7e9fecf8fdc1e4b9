"""Processes that a lost process left behind are found when its session is taken up again; all of them are real."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import attrs
import orjson
import pytest
from tools.processes import parent_of

from fsm import workspace_tools
from fsm.tools import Tools
from fsm.tools.shell.orphans import Found, Mark, Register, boot, started_at
from states.ports import ToolRun
from states.records import Status

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc")
PROJECT = Path(__file__).parents[2]

OWNER = """
import asyncio, sys
from pathlib import Path
from fsm.tools import Tools, workspace_tools
from states.ports import ToolRun
from fsm.tools.shell import started
root = Path(sys.argv[1])
if "guarded" in sys.argv:
    started.KEEPER.start = lambda *parts: None
tools = Tools(workspace_tools(root, root / ".interlock"))
asyncio.run(tools.run(ToolRun("bash", {"command": sys.argv[2]}, "s:7")))
"""

TREE = """
trap '' TERM
bash -c '
  trap "" TERM
  bash -c "trap \\"\\" TERM; echo \\$\\$ >> new; while :; do sleep 1; done" &
  echo $$ >> new; while :; do sleep 1; done' &
echo $$ >> new
while [ $(wc -l < new) != 3 ]; do sleep 0.01; done
mv new pids
while :; do sleep 1; done
"""
"""Three generations, none of which heeds SIGTERM."""


def await_file(path):
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, "the command never came so far"
        time.sleep(0.01)
    return [int(line) for line in path.read_text().split()]


def guards(leader):
    """Who ends a command with its owner: its supervisor, or the one process of its group whose parent is gone."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        in_group = int(fields[2]) == leader and int(entry.name) != leader
        if in_group and b"interlock" in (entry / "cmdline").read_bytes():
            return int(entry.name)
    return parent_of(leader)


def alive(pid):
    return started_at(pid) is not None


@pytest.fixture(params=["kept", "guarded"])
def orphans(tmp_path, request):
    """A tree of three generations whose owner was killed, and its supervisor or guard before it."""
    arguments = [sys.executable, "-c", OWNER, str(tmp_path), TREE, request.param]
    with subprocess.Popen(arguments, cwd=PROJECT) as owner:
        pids = await_file(tmp_path / "pids")
        owner.send_signal(signal.SIGSTOP)  # it must not see to what is left
        os.kill(guards(os.getpgid(pids[0])), signal.SIGKILL)
        owner.kill()
    yield pids
    for pid in pids:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def reconciled(root, key="s:7", command=TREE):
    import asyncio

    tools = Tools(workspace_tools(root, root / ".interlock"))
    return asyncio.run(tools.reconcile(ToolRun("bash", {"command": command}, key)))


def test_a_tree_that_outlived_its_owner_and_its_guard_is_ended_and_told(orphans, tmp_path):
    assert all(map(alive, orphans)), "without a guard nobody else ends it"

    output = reconciled(tmp_path)

    assert not any(map(alive, orphans))
    assert output.status is Status.UNKNOWN
    assert "may have happened" in output.text
    assert "of its processes were still running; they have been ended." in output.text
    assert list((tmp_path / ".interlock" / "running").rglob("*.json")) == []


def test_taking_the_session_up_again_ends_them_before_anything_else(orphans, tmp_path):
    register = Register(tmp_path / ".interlock")
    register.sweep("other")
    assert all(map(alive, orphans)), "another session's are not touched"

    register.sweep("s")

    assert not any(map(alive, orphans))
    assert "have been ended" in register.about("s:7")


def test_a_command_that_ended_with_its_owner_is_told_so(tmp_path):
    arguments = [sys.executable, "-c", OWNER, str(tmp_path), "echo $$ > new; mv new pids; sleep 1000"]
    with subprocess.Popen(arguments, cwd=PROJECT) as owner:
        (pid,) = await_file(tmp_path / "pids")
        owner.kill()
    end = time.monotonic() + 30
    while alive(pid):  # its guard is at it
        assert time.monotonic() < end
        time.sleep(0.01)

    assert reconciled(tmp_path).text.endswith("Nothing of it is running any more.")


@pytest.mark.parametrize(("later", "start"), [(1, None), (0, "another start of the machine")])
def test_a_process_that_only_has_the_number_is_left_alone(tmp_path, later, start):
    """Numbers are used again, and so are ticks after the machine was started anew."""
    bystander = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        register = Register(tmp_path)
        mark = Mark("no-such-token", bystander.pid, started_at(bystander.pid) - later, start or boot())
        path = tmp_path / "running" / "s" / "7.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(orjson.dumps(attrs.asdict(mark)))

        assert register.about("s:7") == f" {Found()}"
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("body", [b"", b"{", b'{"token": "t", "more": 1}'])
def test_a_mark_that_cannot_be_read_names_nobody(tmp_path, body):
    path = tmp_path / "running" / "s" / "7.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(body)

    assert Register(tmp_path).about("s:7") == f" {Found()}"
    assert not path.exists()


def test_a_command_that_ends_leaves_no_mark(tmp_path):
    import asyncio

    tools = Tools(workspace_tools(tmp_path, tmp_path / ".interlock"))
    output = asyncio.run(tools.run(ToolRun("bash", {"command": "ls -a .interlock/running/s"}, "s:7")))

    assert "7.json" in output.text, "while it runs it is written down"
    assert list((tmp_path / ".interlock" / "running").rglob("*.json")) == []
