"""The process that starts commands: what becomes of it, of whoever uses the library, and where there can be none."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tools.processes import HIDDEN, LINUX, alive, gone, parent_of, pids_in

from fsm.tools.shell import started
from fsm.tools.shell.command import Ended, Ending, Limits, run_command
from fsm.tools.shell.started import LOST, Command
from fsm.tools.shell.stragglers import descendants

pytestmark = LINUX
LIMITS = Limits(60, 60, 10**6)


class Printed:
    def __init__(self):
        self.total, self.text = 0, b""

    def feed(self, chunk):
        self.total += len(chunk)
        self.text += chunk


@pytest.fixture
def run(tmp_path):
    def command(text, environment=None, directory=tmp_path, cancelled=lambda: False):
        printed = Printed()
        given = {"PATH": os.environ["PATH"]} if environment is None else environment
        ended = run_command(Command(text, Path(directory), given), LIMITS, printed, cancelled)
        return ended, printed.text.decode()

    return command


@pytest.fixture
def guarded(monkeypatch):
    """A machine on which no keeper can be started."""
    monkeypatch.setattr(started.KEEPER, "start", lambda *parts: None)


def test_whoever_uses_the_library_has_no_child_of_ours_and_is_no_subreaper(tmp_path):
    """A program that waits for whatever child it has must not meet ours, nor strangers that came to it."""
    code = f"""
import asyncio, os, sys
from pathlib import Path
from fsm.tools import Tools, workspace_tools
from states.ports import ToolRun
root = Path(sys.argv[1])
tools = Tools(workspace_tools(root, root / ".interlock"))
print(asyncio.run(tools.run(ToolRun("bash", {{"command": {HIDDEN!r}}}, "s:1"))).text)
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("no child")
"""
    project = Path(__file__).parents[2]
    arguments = [sys.executable, "-c", code, str(tmp_path)]
    said = subprocess.run(arguments, cwd=project, capture_output=True, text=True, check=True)

    assert said.stdout.splitlines() == [
        "[1 processes that were left running in the background were stopped]",
        "[exit status 0]",
        "no child",
    ]
    assert not alive(*pids_in(tmp_path, 1))


def test_a_keeper_that_was_killed_is_replaced(run):
    ended, said = run("echo $PPID")
    keeper = parent_of_supervisor(run)
    os.kill(keeper, signal.SIGKILL)
    assert gone(keeper)

    again, _ = run("echo once >> effects; wc -l < effects")

    assert (ended, again) == (Ended(Ending.EXITED, 0, 0, True),) * 2
    assert said.strip().isdigit()
    assert run("cat effects")[1] == "once\n"


def parent_of_supervisor(run):
    return int(run("cut -d ' ' -f 4 /proc/$PPID/stat")[1])


def test_a_shell_that_kills_its_supervisor_ends_as_one_that_was_killed(run, tmp_path):
    ended, _ = run("sleep 1000 & echo $! > new; echo $$ >> new; mv new pids; kill -KILL $PPID; wait")

    assert (ended.ending, ended.status, ended.gone) == (Ending.EXITED, LOST, True)
    assert not any(map(alive, pids_in(tmp_path, 2)))


def test_a_keeper_knows_nothing_of_its_owners_environment(run, monkeypatch):
    monkeypatch.setenv("A_SECRET", "known to the owner")
    started.KEEPER._drop()

    _, said = run("tr '\\0' '\\n' < /proc/$PPID/environ")

    assert "known to the owner" not in said


def test_commands_of_many_threads_run_side_by_side(run):
    """Each waits for all others: they end only if all of them run at once."""
    count, outcomes = 6, []
    meet = f"touch here$RANDOM$$; until [ $(ls here* | wc -l) = {count} ]; do sleep 0.01; done; echo met"
    threads = [threading.Thread(target=lambda: outcomes.append(run(meet))) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert outcomes == [(Ended(Ending.EXITED, 0, 0, True), "met\n")] * count


@pytest.mark.parametrize("how", ["kept", "guarded"])
def test_a_folder_that_is_gone_is_an_error_and_nothing_runs(run, tmp_path, how, request):
    if how == "guarded":
        request.getfixturevalue("guarded")

    with pytest.raises(FileNotFoundError):
        run("touch ran", directory=tmp_path / "gone")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("how", ["kept", "guarded"])
def test_a_command_starts_with_clean_signals_and_no_descriptors_of_ours(run, how, request):
    if how == "guarded":
        request.getfixturevalue("guarded")

    _, ignored = run("grep SigIgn /proc/self/status | cut -f 2")
    _, blocked = run("grep SigBlk /proc/self/status | cut -f 2")
    _, fds = run("echo /proc/self/fd/*")

    assert (int(ignored, 16), int(blocked, 16)) == (0, 0)
    assert {Path(name).name for name in fds.split()} <= {"0", "1", "2", "3", "255"}


def test_names_and_values_that_are_no_text_arrive_as_they_are(run):
    value = b"\xff\xfe".decode("utf-8", "surrogateescape")

    _, said = run('printf %s "$ODD" | od -An -tx1', {"PATH": os.environ["PATH"], "ODD": value})

    assert said.split() == ["ff", "fe"]


def test_without_a_keeper_the_process_group_and_the_mark_have_to_do(run, guarded, tmp_path):
    ended, _ = run("(setsid sleep 1000 >/dev/null 2>&1 & echo $! > pids)")

    assert ended == Ended(Ending.EXITED, 0, 1, True)
    assert not any(map(alive, pids_in(tmp_path, 1)))


def test_descendants_are_found_below_dead_parents_and_the_dead_do_not_count():
    code = "import os, time; os.fork() or os._exit(0); print(flush=True); time.sleep(1000)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        parent.stdout.readline()
        found = descendants(os.getpid())
        parent.kill()

    assert parent.pid in found
    assert all(parent_of_or_none(process) != parent.pid for process in found)


def parent_of_or_none(process):
    return parent_of(process) if Path(f"/proc/{process}").exists() else None
