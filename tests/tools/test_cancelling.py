"""A cancelled run and the processes of its tool: all of them go, and what was printed stays."""

import asyncio

import pytest
from support.bench import Bench as LoopBench
from tools.processes import LINUX, alive, pids_in

from fsm import workspace_tools
from fsm.events import ToolProgress
from fsm.providers.scripted import asks_for
from fsm.tools import Tools
from states.ports import ToolOutput, ToolRun
from states.records import Status, ToolResult

GENERATIONS = "(bash -c '(sleep 1000 & echo $! >> new; wait) & echo $! >> new; wait' & echo $! >> new; wait) &"
DAEMON = "(setsid bash -c 'trap \"\" TERM; echo $$ >> new; while :; do sleep 1; done' >/dev/null 2>&1 &) ;"
HIDING = """(env -i setsid bash -c 'trap "" TERM HUP
(setsid bash -c "trap \\"\\" TERM; echo \\$\\$ >> new; while :; do sleep 1; done" &)
echo $$ >> new; while :; do sleep 1; done' </dev/null >/dev/null 2>&1 &) ;"""
"""As `HIDDEN`, one that has a daemon of its own, and neither heeds SIGTERM."""
STUBBORN = "trap '' TERM; echo $$ >> new;"
READY = "while [ $(wc -l < new) -lt {} ]; do sleep 0.01; done; mv new pids; echo working; while :; do sleep 1; done"


@pytest.mark.parametrize(
    ("command", "count"),
    [
        (f"{GENERATIONS} echo $$ >> new; {READY.format(4)}", 4),
        (f"{DAEMON} {STUBBORN} {READY.format(2)}", 2),
        pytest.param(f"{HIDING} {GENERATIONS} {STUBBORN} {READY.format(6)}", 6, marks=LINUX),
    ],
    ids=["three generations", "a daemon and a shell that ignore SIGTERM", "daemons that hide"],
)
def test_everything_that_a_cancelled_command_started_is_gone_and_its_words_are_kept(tmp_path, command, count):
    async def story():
        shown = asyncio.Event()
        bench = LoopBench(
            asks_for(("bash", {"command": command})), wrap=lambda _: Tools(workspace_tools(tmp_path))
        )  # fmt: skip

        def hear(event):
            if isinstance(event, ToolProgress) and event.text == "working":
                shown.set()

        run = asyncio.create_task(bench.loop.run("go", session="s", on_event=hear))
        await shown.wait()
        pids = pids_in(tmp_path, count)
        assert all(map(alive, pids))
        await bench.loop.cancel("s")
        await run
        return [pid for pid in pids if alive(pid)], await bench.records(ToolResult)

    left, [result] = asyncio.run(asyncio.wait_for(story(), 30))

    assert left == []
    assert result.status is Status.CANCELLED
    assert result.output.startswith("working\n")


def test_a_tool_in_a_thread_does_not_hold_up_others(tmp_path):
    """Eight commands that each wait for all the others: on one thread, or on the loop, they would wait for ever."""
    tools = Tools(workspace_tools(tmp_path))
    command = "touch {0}; while [ $(ls | wc -l) -lt 8 ]; do sleep 0.01; done; echo {0}"

    async def story():
        runs = [tools.run(ToolRun("bash", {"command": command.format(n)}, f"s:{n}")) for n in range(8)]
        return await asyncio.gather(*runs)

    outputs = asyncio.run(asyncio.wait_for(story(), 30))

    assert [output.text for output in outputs] == [f"{n}\n[exit status 0]" for n in range(8)]
    assert all(isinstance(output, ToolOutput) for output in outputs)
