"""Commands in the background, with real processes: handles, what they printed, and that they end in time."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.bench import Bench as LoopBench
from tools.processes import HIDDEN, LINUX, alive, gone, pids_in

from fsm import RunStatus, workspace_tools
from fsm.providers.scripted import asks_for, says
from fsm.tools import Tools
from fsm.tools.shell import background as module
from fsm.tools.shell.log import KEPT, Log
from states.actions import batch_digest
from states.ports import ToolOutput
from states.records import Status, ToolResult

WAITS = "echo $$ > pids; sleep 1000"


def start(bench, command, **arguments):
    output = bench.run("bash", command=command, background=True, **arguments)
    assert output.status is Status.OK
    return output.metadata["background"]


def output_of(bench, handle, **arguments):
    return bench.run("bash_output", handle=handle, **arguments)


def left(bench):
    asyncio.run(bench.tools.leave("s"))


def test_a_command_returns_a_handle_and_goes_on(bench):
    handle = start(bench, WAITS)
    pids = pids_in(bench.root, 1)

    assert handle == "bg_1"
    assert output_of(bench, handle) == ToolOutput(
        Status.OK,
        "[bg_1: running; bash_output reads what it prints, bash_stop ends it]",
        {"background": "bg_1", "running": True, "progress": 0},
    )
    assert all(map(alive, pids))
    left(bench)
    assert not any(map(alive, pids))


def test_each_look_shows_what_is_new_and_the_last_how_it_ended(bench):
    handle = start(bench, "echo one; until [ -e go ]; do sleep 0.01; done; echo two; exit 3")

    first = output_of(bench, handle, wait_s=10, until="one")
    bench.file("go")
    second = output_of(bench, handle, wait_s=10)
    third = output_of(bench, handle, wait_s=10)

    assert first.text.startswith("one\n[bg_1: running")
    assert second.text == "two\n[bg_1: ended: exit status 3]"
    assert third.text == "[bg_1: ended: exit status 3]"
    assert second.metadata == third.metadata
    assert second.metadata == {"background": "bg_1", "running": False, "progress": 8, "exit_status": 3}


def test_nothing_of_it_can_be_taken_for_evidence(bench):
    handle = start(bench, "true")

    assert "command" not in output_of(bench, handle, wait_s=10).metadata


def test_stopping_ends_everything_that_it_started_and_keeps_what_it_printed(bench):
    handle = start(bench, "echo up; trap '' TERM; setsid sleep 1000 & echo $! > pids; echo $$ >> pids; wait; wait")
    pids = pids_in(bench.root, 2)
    output = bench.run("bash_stop", handle=handle)

    assert output.text == "up\n[bg_1: ended: cancelled: stopped after it had started; what it did until then remains]"
    assert not any(map(alive, pids))
    assert bench.run("bash_stop", handle=handle).text.startswith("[bg_1: ended: cancelled")


@LINUX
def test_a_daemon_that_hides_ends_with_the_session(bench):
    bench.run("bash", command=f"{HIDDEN} sleep 1000", background=True)
    pids = pids_in(bench.root, 1)
    assert all(map(alive, pids))

    asyncio.run(bench.tools.leave("s"))

    assert not any(map(alive, pids))


def test_a_wait_ends_when_the_run_is_stopped(bench):
    handle = start(bench, WAITS)

    async def main():
        task = asyncio.create_task(bench.tools.run(bench.request("bash_output", handle=handle, wait_s=600)))
        await asyncio.to_thread(pids_in, bench.root, 1)
        task.cancel()
        return await asyncio.wait_for(task, 30)

    output = asyncio.run(main())
    left(bench)

    assert output.text.startswith("[bg_1: running")


@pytest.mark.parametrize("handle", ["bg_99", "nonsense", "bg_", "../x"])
def test_a_handle_that_never_was_is_answered_with_those_that_are(bench, handle):
    start(bench, "true")

    assert output_of(bench, handle).text == f"Error: there is no background command {handle!r}; there are bg_1"


def test_another_sessions_command_is_not_at_hand(bench):
    handle = start(bench, "true")

    assert bench.run("bash_output", key="other:5", handle=handle).status is Status.ERROR


def test_silence_stops_it_only_where_that_was_asked_for(bench):
    handle = start(bench, "sleep 1000", timeout_s=0.2)

    assert "ended: stopped: no output for 0.2 s" in output_of(bench, handle, wait_s=10).text


def test_a_command_that_cannot_start_says_why(bench, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied", "/bin/bash")

    monkeypatch.setattr(module, "run_command", refuse)
    handle = start(bench, "true")

    assert output_of(bench, handle, wait_s=10).text == "[bg_1: ended: could not be started: Permission denied]"


def test_too_many_at_once_are_refused_by_name(bench, monkeypatch):
    monkeypatch.setattr(module, "MOST", 1)
    start(bench, WAITS)
    second = bench.run("bash", command="true", background=True)
    left(bench)

    assert second.status is Status.ERROR
    assert "1 commands run in the background already (bg_1); stop one first" in second.text


def test_a_lost_start_is_unknown_and_says_that_it_ended(bench):
    output = bench.reconcile("bash", "s:1", command="pytest -q", background=True)

    assert output.status is Status.UNKNOWN
    assert "it ended with that process" in output.text


CHILD = """
import asyncio, sys
from pathlib import Path
from fsm.tools import Tools, workspace_tools
from states.ports import ToolRun
root = Path(sys.argv[1])
tools = Tools(workspace_tools(root, root / ".interlock"))
arguments = {"command": sys.argv[2], "background": True}
print(asyncio.run(tools.run(ToolRun("bash", arguments, "s:7"))).metadata["background"], flush=True)
import threading
threading.Event().wait()
"""


def test_a_killed_process_takes_its_commands_along_and_its_handles_are_answered_truly(bench):
    command = (
        "echo working; (setsid bash -c 'echo $$ >> new; exec sleep 1000' &); echo $$ >> new; "
        "while [ $(wc -l < new) != 2 ]; do sleep 0.01; done; mv new pids; sleep 1000"
    )
    project = Path(__file__).parents[2]
    arguments = [sys.executable, "-c", CHILD, str(bench.root), command]
    with subprocess.Popen(arguments, cwd=project, stdout=subprocess.PIPE, text=True) as child:
        handle = child.stdout.readline().strip()
        pids = pids_in(bench.root, 2)
        child.send_signal(signal.SIGKILL)

    assert gone(*pids)
    output = output_of(bench, handle)
    assert handle == "bg_7"
    assert output.status is Status.ERROR
    assert "bg_7 does not run any more" in output.text
    assert output.text.endswith(":\nworking\n")


def test_it_survives_turns_and_ends_with_the_run(tmp_path):
    bench = LoopBench(
        asks_for(("bash", {"command": "echo up; " + WAITS, "background": True})),
        lambda request: asks_for(("bash_output", {"handle": handle_in(request), "wait_s": 10, "until": "up"})),
        lambda request: says(f"alive: {[alive(pid) for pid in pids_in(tmp_path, 1)]}"),
        wrap=lambda _: Tools(workspace_tools(tmp_path)),
        workspace=tmp_path,
    )
    result = asyncio.run(bench.run())

    assert result.status is RunStatus.SUCCEEDED
    assert result.text == "alive: [True]"
    assert not any(map(alive, pids_in(tmp_path, 1)))


def handle_in(request):
    return request.messages[-1].text.partition("[")[2].partition(":")[0]


@pytest.mark.parametrize("piece", [1, 1000, KEPT * 2])
def test_a_late_reader_gets_the_newest_and_is_told_what_is_missing(tmp_path, piece):
    log = Log(tmp_path, "s:1")
    text = "".join(f"{number:09}\n" for number in range(20_000))
    for at in range(0, len(text), max(piece, 50)):
        log.feed(text[at : at + max(piece, 50)].encode())
    news = log.news()
    log.feed(b"more\xff")
    shown = log.shown()
    log.close()

    assert news.text == text[-KEPT:]
    assert news.missed == len(text) - KEPT
    assert shown == "more\\xff"
    assert log.path.read_text() == text + "more\\xff"


def test_a_mark_stands_where_a_late_reader_missed_something(tmp_path):
    log = Log(tmp_path, "s:1")
    log.feed(b"x" * (KEPT + 5))
    log.close()

    assert f"[... 5 of {KEPT + 5:,} characters left out here; the whole text is in {log.path} ...]" in log.shown()


def test_a_full_disk_loses_the_copy_and_not_the_command(tmp_path):
    (tmp_path / "file").write_text("in the way")
    log = Log(tmp_path / "file", "s:1")
    log.feed(b"said")

    assert (log.path, log.news().text) == (None, "said")


def test_progress_is_progress_for_the_loop_detector():
    def batch(progress):
        result = ToolResult("c", Status.OK, "[12:00:01] building", {"progress": progress})
        return batch_digest([("bash_output", '{"handle":"bg_1"}', result)])

    assert batch(10) == batch(10)
    assert batch(10) != batch(20)


def test_the_wait_of_one_call_has_bounds(bench):
    assert "wait_s" in bench.tools.complaint("bash_output", {"handle": "bg_1", "wait_s": 601})


def test_reading_waits_for_nobodys_approval_and_stopping_may_be_repeated(bench):
    assert bench.tools.spec("bash_output").read_only
    assert bench.tools.spec("bash_stop").idempotent
    assert not bench.tools.spec("bash_stop").read_only
