"""bash with real processes: what the model reads, what the gates see, and that nothing outlives a call."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tools.processes import HIDDEN, LINUX, alive, gone, pids_in

from fsm.tools import Tools
from fsm.tools.limits import LIMIT
from fsm.tools.shell import command as command_module
from fsm.tools.shell.bash import bash_tool
from fsm.tools.shell.capture import SAVED, Capture
from states.ports import ToolOutput, ToolRun
from states.records import Status


@pytest.mark.parametrize(
    ("command", "status", "text", "exit_status"),
    [
        ("echo hello", Status.OK, "hello\n[exit status 0]", 0),
        ("printf hello", Status.OK, "hello\n[exit status 0]", 0),
        ("true", Status.OK, "[exit status 0]", 0),
        ("echo a; echo b >&2; echo c", Status.OK, "a\nb\nc\n[exit status 0]", 0),
        ("echo no; exit 3", Status.ERROR, "no\n[exit status 3]", 3),
        ("kill -TERM $$", Status.ERROR, "[exit status 143]", 143),
        ("kill -KILL $$", Status.ERROR, "[exit status 137]", 137),
        ("cat", Status.OK, "[exit status 0]", 0),
        (r"printf 'a\0\377b\n'", Status.OK, "a\\x00\\xffb\n[exit status 0]", 0),
        ("false | true", Status.OK, "[exit status 0]", 0),
        ("set -o pipefail; false | true", Status.ERROR, "[exit status 1]", 1),
        ("wait; echo waited", Status.OK, "waited\n[exit status 0]", 0),
        ("(sleep 0.1; echo late) & wait", Status.OK, "late\n[exit status 0]", 0),
        ("exec >&- 2>&-; sleep 0.1; exit 4", Status.ERROR, "[exit status 4]", 4),
        ('printf \'%s \' "$#" "$@"', Status.OK, "0 \n[exit status 0]", 0),
    ],
)
def test_a_command_is_told_by_its_output_and_its_exit_status(bench, command, status, text, exit_status):
    output = bench.run("bash", command=command)

    assert output == ToolOutput(status, text, {"command": command, "exit_status": exit_status})


def test_a_command_that_does_not_exist_fails_in_the_shells_own_words(bench):
    output = bench.run("bash", command="no-such-command-at-all")

    assert output.metadata["exit_status"] == 127
    assert "line 1: no-such-command-at-all: command not found" in output.text


def test_a_command_runs_in_the_workspace_without_terminal_or_children(bench):
    bench.file("here.txt", "x")
    script = "import os, sys; print(sorted(os.listdir('.')), os.isatty(0), os.getpid() == os.getpgrp() == os.getsid(0))"
    waits = "import os\ntry: os.wait()\nexcept ChildProcessError: print('no children')"
    output = bench.run("bash", command=f'{sys.executable} -c "{script}"')
    alone = bench.run("bash", command=f'{sys.executable} -c "{waits}"')

    assert output.text == "['.interlock', 'here.txt'] False True\n[exit status 0]"
    assert alone.text == "no children\n[exit status 0]"


def test_secrets_and_startup_files_do_not_reach_a_command(tmp_path, monkeypatch):
    startup = tmp_path / "startup"
    startup.write_text("echo started\n")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MY_KEY"):
        monkeypatch.setenv(name, "hush")
    monkeypatch.setenv("BASH_ENV", str(startup))
    monkeypatch.setenv("HARMLESS", "seen")
    tools = Tools([bash_tool(tmp_path, tmp_path / "state", hidden_env=["MY_KEY"])])
    output = asyncio.run(tools.run(ToolRun("bash", {"command": "env"}, "s:1")))

    assert "HARMLESS=seen" in output.text
    assert "hush" not in output.text
    assert "started" not in output.text


def test_a_nul_in_a_command_is_a_sentence(bench):
    output = bench.run("bash", command="echo a\0b")

    assert output == ToolOutput(Status.ERROR, "Error: a command cannot contain a NUL character. Not started.")


@pytest.mark.parametrize("timeout", [0, -1, 3601, "10"])
def test_a_timeout_has_bounds(bench, timeout):
    assert "timeout_s" in bench.tools.complaint("bash", {"command": "true", "timeout_s": timeout})


def test_lines_are_shown_as_they_come(bench):
    bench.run("bash", command=r"printf 'one\ntw'; printf 'o\n\n10%%\r20%%\rend'")

    assert bench.lines == ["one", "two", "10%", "20%", "end"]


class Leaps(list):
    """Lines as they are shown; after one of `lines`, the clock of commands goes on by some seconds at once."""

    def __init__(self, *lines, seconds=61):
        super().__init__()
        self.lines, self.seconds, self.ahead = lines, seconds, 0

    def append(self, line):
        super().append(line)
        if line in self.lines:
            self.ahead += self.seconds

    def monotonic(self):
        return time.monotonic() + self.ahead


@pytest.fixture
def leap(bench, monkeypatch):
    def after(*lines, seconds=61):
        bench.lines = Leaps(*lines, seconds=seconds)
        monkeypatch.setattr(command_module, "time", bench.lines)

    return after


def test_a_silent_command_is_stopped_with_its_children(bench, leap):
    leap("ready")
    command = "sleep 1000 & echo $! > pids; (sleep 1000 & echo $! >> pids; echo ready; wait) & echo $$ >> pids; wait"
    output = bench.run("bash", command=command, timeout_s=60)

    assert output.status is Status.ERROR
    assert output.text.startswith("ready\n")
    assert output.text.endswith("[stopped: no output for 60 s; what it did until then remains]")
    assert output.metadata == {"command": command, "timed_out": True}
    assert not any(map(alive, pids_in(bench.root, 3)))


def test_output_puts_the_timeout_off(bench, leap):
    """Each line is shown 40 seconds after the one before, by the clock of commands, and read before the next."""
    leap("1", "2", "3", "4", seconds=40)
    os.mkfifo(bench.root / "go")
    there = os.open(bench.root / "go", os.O_RDWR)
    shown = bench.lines.append

    def go_on(line):
        shown(line)
        os.write(there, b"\n")

    bench.lines.append = go_on
    output = bench.run("bash", command="for i in 1 2 3 4; do echo $i; read -r _; done < go", timeout_s=60)
    os.close(there)

    assert (output.status, output.text) == (Status.OK, "1\n2\n3\n4\n[exit status 0]")
    assert bench.lines.ahead == 160


def test_a_command_that_never_falls_silent_is_stopped_by_the_ceiling(tmp_path, monkeypatch):
    lines = Leaps("y")
    monkeypatch.setattr(command_module, "time", lines)
    tools = Tools([bash_tool(tmp_path, tmp_path / "state", total=60)])
    command = "while :; do echo y; sleep 0.01; done"
    output = asyncio.run(tools.run(ToolRun("bash", {"command": command}, "s:1", lines.append)))

    assert output.status is Status.ERROR
    assert output.text.endswith("[stopped after 60 s; what it did until then remains]")
    assert output.metadata == {"command": command, "timed_out": True}


def test_a_command_that_prints_without_end_is_stopped_too(tmp_path):
    tools = Tools([bash_tool(tmp_path, tmp_path / "state", output=200_000)])
    output = asyncio.run(tools.run(ToolRun("bash", {"command": "yes"}, "s:1")))

    said = "[stopped: more than 200,000 characters of output; what it did until then remains]"
    assert (output.status, output.text.endswith(said)) == (Status.ERROR, True)
    assert {"timed_out", "exit_status"} & set(output.metadata) == set()


def test_a_command_that_ignores_sigterm_is_killed(bench, leap):
    leap("deaf")
    output = bench.run(
        "bash", command="trap '' TERM; echo $$ > pids; echo deaf; while :; do sleep 0.1; done", timeout_s=60
    )

    assert "no output for 60 s" in output.text
    assert not any(map(alive, pids_in(bench.root, 1)))


def test_a_command_may_clean_up_when_it_is_stopped(bench, leap):
    leap("up")
    command = "trap 'echo cleaned > done; echo bye; exit' TERM; echo up; while :; do sleep 0.05; done"
    output = bench.run("bash", command=command, timeout_s=60)

    assert "\nbye\n" in output.text
    assert (bench.root / "done").read_text() == "cleaned\n"


def test_a_background_process_that_keeps_the_output_open_does_not_hold_up_the_call(bench):
    begun = time.monotonic()
    output = bench.run("bash", command="sleep 1000 & echo $! > pids; echo started")

    assert time.monotonic() - begun < 10
    assert (
        output.text == "started\n[1 processes that were left running in the background were stopped]\n[exit status 0]"
    )
    assert output.metadata["exit_status"] == 0
    assert not any(map(alive, pids_in(bench.root, 1)))


@pytest.mark.parametrize(
    "command",
    [
        "sleep 1000 >/dev/null 2>&1 & echo $! > pids",
        "nohup sleep 1000 >/dev/null 2>&1 & echo $! > pids",
        "setsid sleep 1000 >/dev/null 2>&1 & echo $! > pids",
        "(setsid bash -c 'echo $$ > pids; exec sleep 1000' >/dev/null 2>&1 &); until [ -s pids ]; do sleep 0.01; done",
        "set -m; sleep 1000 >/dev/null 2>&1 & echo $! > pids",
        pytest.param(HIDDEN, marks=LINUX),
    ],
)
def test_nothing_outlives_a_command(bench, command):
    output = bench.run("bash", command=command)

    assert "left running in the background were stopped]" in output.text
    assert output.status is Status.OK
    assert not any(map(alive, pids_in(bench.root, 1)))


@LINUX
def test_a_daemon_that_hides_is_ended_by_silence_and_by_the_death_of_its_owner_too(bench, leap):
    leap("ready")
    silent = bench.run("bash", command=f"{HIDDEN} echo ready; sleep 1000", timeout_s=60)
    first = pids_in(bench.root, 1)

    assert silent.metadata["timed_out"]
    assert not any(map(alive, first))

    (bench.root / "pids").unlink()
    project = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", CHILD, str(bench.root), f"{HIDDEN} sleep 1000"], cwd=project) as child:
        second = pids_in(bench.root, 1)
        assert all(map(alive, second))
        child.kill()

    assert gone(*second)


def test_a_background_process_about_to_end_may_do_so(bench):
    output = bench.run("bash", command="(sleep 0.1; echo done > done) >/dev/null 2>&1 &")

    assert output.text == "[exit status 0]"
    assert (bench.root / "done").read_text() == "done\n"


def test_a_cancelled_command_is_stopped_before_the_answer_and_keeps_its_output(bench):
    command = "echo working; sleep 1000 & echo $! > pids; echo $$ >> pids; wait"

    async def main():
        task = asyncio.create_task(bench.tools.run(bench.request("bash", command=command)))
        pids = await asyncio.to_thread(pids_in, bench.root, 2)
        task.cancel()
        output = await task
        return output, [pid for pid in pids if alive(pid)]

    output, left = asyncio.run(main())

    assert output.status is Status.CANCELLED
    assert output.text == "working\n[cancelled: stopped after it had started; what it did until then remains]"
    assert output.metadata == {"command": command}
    assert left == []


def test_a_huge_output_is_bounded_in_the_answer_and_whole_in_a_file(bench):
    command = "echo FIRST; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo LAST"
    output = bench.run("bash", key="s:5", command=command)
    kept = bench.state / "output" / "s%3A5.txt"

    assert len(output.text) <= LIMIT
    assert output.text.startswith("FIRST\nxxx")
    assert output.text.endswith("xxx\nLAST\n[exit status 0]")
    assert f"of 50,000,012 characters left out here; the whole text is in {kept}" in output.text
    assert output.metadata == {
        "command": command,
        "exit_status": 0,
        "truncated": True,
        "full_output": str(kept),
    }
    assert kept.stat().st_size == 50_000_012
    assert len(bench.lines) <= 50_000_012 // 65_536 * 70


def captured(tmp_path, chunks):
    lines = []
    capture = Capture(lines.append, tmp_path, "s:1")
    for chunk in chunks:
        capture.feed(chunk)
    return capture.close(), capture, lines


def test_characters_cut_in_two_by_reading_are_put_together(tmp_path):
    text, _, lines = captured(tmp_path, [bytes([byte]) for byte in "zwölf €\n".encode()] + [b"\xe2\x82"])

    assert text == "zwölf €\n\\xe2\\x82"
    assert lines == ["zwölf €", "\\xe2\\x82"]


@pytest.mark.parametrize("size", [1, 997, 60_000, 1_000_000])
def test_what_is_kept_does_not_depend_on_how_it_was_read(tmp_path, size):
    whole = "".join(f"{number:09}\n" for number in range(30_000))
    step = max(size, 50)
    text, capture, _ = captured(tmp_path, [whole[i : i + step].encode() for i in range(0, len(whole), step)])
    head, _, tail = text.partition("\n\n[... ")
    tail = tail.partition("...]\n\n")[2]

    assert len(head) == len(tail) == 49_500
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert capture.kept.read_text() == whole


def test_a_full_disk_loses_the_copy_and_not_the_result(tmp_path):
    (tmp_path / "file").write_text("in the way")
    text, capture, _ = captured(tmp_path / "file", [b"x" * 150_000])

    assert capture.kept is None
    assert "was not kept" in text
    assert SAVED > 50_000_000


CHILD = """
import asyncio, sys
from pathlib import Path
from fsm.tools import Tools, workspace_tools
from states.ports import ToolRun
from fsm.tools.shell import started
root = Path(sys.argv[1])
if "guarded" in sys.argv:
    started.KEEPER.start = lambda *parts: None
tools = Tools(workspace_tools(root, root / ".interlock"))
asyncio.run(tools.run(ToolRun("bash", {"command": sys.argv[2]}, "s:1")))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("how", ["kept", "guarded"])
def test_a_command_dies_with_the_process_that_started_it(bench, number, how):
    command = (
        "trap '' HUP TERM PIPE; kill -TERM 0; sleep 1000 & echo $! > new; "
        "(sleep 1000 & echo $! >> new; wait) & echo $$ >> new; "
        "(setsid bash -c 'echo $$ >> new; exec sleep 1000' >/dev/null 2>&1 &); env -i sleep 1000 & echo $! >> new; "
        "while [ $(wc -l < new) != 5 ]; do sleep 0.01; done; mv new pids; wait"
    )
    project = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", CHILD, str(bench.root), command, how], cwd=project) as child:
        pids = pids_in(bench.root, 5)
        assert all(map(alive, pids))
        os.kill(child.pid, number)

    assert gone(*pids)


@pytest.mark.parametrize(
    ("command", "again"),
    [
        ("python -m pytest -q", True),
        ("ruff check .", True),
        ("mypy src", True),
        ("git status --short && cat a.py | head", True),
        ("cat a.py > b.py", False),
        ("make", False),
        ("echo x >> log", False),
        ("echo x >> log && pytest -q", False),
        ("pytest -q > out.txt", False),
        ("pytest -q; rm -r build", False),
        ("rm -rf build", False),
        ("pytest -q || true", False),
    ],
)
def test_only_a_lost_check_or_what_provably_reads_is_run_again(tmp_path, command, again):
    bash = bash_tool(tmp_path, tmp_path / "state")
    found = asyncio.run(bash.reconcile(ToolRun("bash", {"command": command}, "s:1")))

    assert (found is None) == again
    assert again or found.status is Status.UNKNOWN
