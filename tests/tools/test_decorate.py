"""What becomes of a call: arguments in their types, values and faults as outputs, cancellation told truly."""

import asyncio
import contextvars
import dataclasses
import math
import sys
import threading
from enum import StrEnum
from typing import Any, TypedDict

import attrs
import pytest

from fsm.tools import ToolContext, ToolError, tool
from states.ports import ToolOutput, ToolRun
from states.records import Status


class Colour(StrEnum):
    RED = "red"


@attrs.frozen
class Pair:
    left: int
    right: str = "r"

    def __attrs_post_init__(self):
        if self.left < 0:
            raise ValueError("left is negative")


@dataclasses.dataclass
class Box:
    size: float


class Point(TypedDict):
    x: int


def run(made, key="s:1", progress=lambda _: None, **arguments):
    return asyncio.run(made.run(ToolRun(made.spec.name, arguments, key, progress)))


@pytest.mark.parametrize(
    ("annotation", "given", "taken"),
    [
        (int, 3, 3),
        (float, 3, 3.0),
        (Colour, "red", Colour.RED),
        (Pair, {"left": 1}, Pair(1)),
        (Box, {"size": 1}, Box(1.0)),
        (Point, {"x": 1}, {"x": 1}),
        (list[Pair], [{"left": 1, "right": "x"}], [Pair(1, "x")]),
        (dict[str, Colour], {"a": "red"}, {"a": Colour.RED}),
        (tuple[int, Colour], [1, "red"], (1, Colour.RED)),
        (set[int], [1, 2], {1, 2}),
        (int | str, "x", "x"),
        (int | str, 1, 1),
        (Pair | Box, {"size": 2}, Box(2.0)),
        (list[int] | Pair | None, {"left": 2}, Pair(2)),
        (list[int] | Pair | None, [1], [1]),
        (list[int] | Pair | None, None, None),
        (Any, {"free": [1, None]}, {"free": [1, None]}),
        (dict, {"free": 1}, {"free": 1}),
    ],
    ids=str,
)
def test_arguments_arrive_in_their_types(annotation, given, taken):
    seen = []

    def f(value):
        seen.append(value)

    f.__annotations__ = {"value": annotation}

    assert run(tool(f), value=given) == ToolOutput(Status.OK, "")
    assert seen == [taken]
    assert type(seen[0]) is type(taken)


def test_a_class_may_refuse_a_value_before_anything_starts():
    started = []

    @tool
    def f(pair: Pair) -> None:
        started.append(pair)

    output = run(f, pair={"left": -1})

    assert output.status is Status.ERROR
    assert "left is negative" in output.text
    assert "Not started" in output.text
    assert not started


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (None, ""),
        (True, "true"),
        ([1, "zwölf"], '[1,"zwölf"]'),
        (Pair(1), '{"left":1,"right":"r"}'),
        (Box(1.5), '{"size":1.5}'),
        ({"a": math.nan, "b": math.inf, 3: 2**70}, '{"a":"nan","b":"inf","3":"0x400000000000000000"}'),
        ({"x": "\ud800\0"}, '{"x":"\\\\ud800\\\\x00"}'),
    ],
    ids=str,
)
def test_a_value_becomes_text(value, text):
    assert run(tool(name="f")(lambda: value)) == ToolOutput(Status.OK, text)


def test_an_output_passes_through():
    said = ToolOutput(Status.UNKNOWN, "who knows", {"a": 1})

    assert run(tool(name="f")(lambda: said)) is said


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolError("there is no such page."), "Error: there is no such page."),
        (KeyError("x"), "Error: KeyError: 'x'"),
        (ValueError(), "Error: ValueError"),
        (FileNotFoundError(2, "No such file", "a.txt"), "Error: No such file (a.txt)"),
        (StopIteration("odd"), "Error: StopIteration: odd"),
        (SystemExit(3), "Error: SystemExit: 3"),
        (asyncio.CancelledError(), "Error: CancelledError"),
        (ExceptionGroup("many", [ValueError("a"), ToolError("b")]), "Error: ValueError: a; b"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_a_tool_raises_becomes_an_error(error, text, asynchronous):
    async def later() -> None:
        _raise(error)

    if asynchronous and isinstance(error, StopIteration):
        text = "Error: RuntimeError: coroutine raised StopIteration"  # Python's own doing
    made = tool(name="f")(later if asynchronous else lambda: _raise(error))

    assert run(made) == ToolOutput(Status.ERROR, text)


def test_a_value_without_a_json_form_is_an_error_that_says_that_the_tool_ran():
    endless = []
    endless.append(endless)

    output = run(tool(name="f")(lambda: endless))

    assert output.status is Status.ERROR
    assert "ran to its end" in output.text


def test_a_forgotten_async_is_named():
    async def later() -> None: ...

    output = run(tool(name="f")(lambda: later()))  # noqa: PLW0108  # a sync function that returns a coroutine

    assert output.status is Status.ERROR
    assert "async def" in output.text


def test_something_cancelled_inside_a_tool_is_its_own_fault():
    @tool
    async def f() -> None:
        task = asyncio.create_task(asyncio.sleep(10))
        await asyncio.sleep(0)
        task.cancel()
        await task

    assert run(f) == ToolOutput(Status.ERROR, "Error: CancelledError")


def test_a_synchronous_tool_runs_beside_the_loop_with_its_context():
    name = contextvars.ContextVar("name")

    @tool
    def where() -> str:
        return f"{name.get()} {threading.current_thread() is threading.main_thread()}"

    async def main():
        name.set("mine")
        return await where.run(ToolRun("where", {}, "s:1"))

    assert asyncio.run(main()).text == "mine False"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_context_carries_the_key_and_shows_progress_in_order_on_the_loop(asynchronous):
    def work(count: int, context: ToolContext) -> str:
        for number in range(count):
            context.progress(f"{number} " + "x" * 2000)
        return context.key

    async def later(count: int, context: ToolContext) -> str:
        return work(count, context)

    lines, threads = [], set()

    def show(text):
        lines.append(text)
        threads.add(threading.current_thread())

    output = run(tool(later if asynchronous else work), key="s:7", progress=show, count=3)

    assert output.text == "s:7"
    assert [line.split()[0] for line in lines] == ["0", "1", "2"]
    assert {len(line) for line in lines} == {1000}
    assert threads == {threading.main_thread()}


def test_a_flood_of_progress_loses_its_oldest_lines():
    @tool
    def flood(context: ToolContext) -> None:
        for number in range(5000):
            context.progress(str(number))

    lines = []

    async def main():
        task = asyncio.create_task(flood.run(ToolRun("flood", {}, "s:1", lines.append)))
        await asyncio.sleep(0)
        done = threading.Event()
        threading.Thread(target=lambda: (_wait_for_thread("interlock-tool"), done.set())).start()
        done.wait(10)  # the loop is held up while the tool prints
        await task

    asyncio.run(main())

    assert len(lines) <= 257
    assert lines[-1] == "4999"


def _wait_for_thread(name):
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(10)


def test_a_cancelled_synchronous_tool_is_awaited_and_its_outcome_told():
    started, release = threading.Event(), threading.Event()

    @tool
    def work(context: ToolContext) -> str:
        started.set()
        release.wait(10)
        return f"done, cancelled={context.cancelled}"

    async def main():
        task = asyncio.create_task(work.run(ToolRun("work", {}, "s:1")))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        release.set()
        return await task

    assert asyncio.run(main()) == ToolOutput(Status.OK, "done, cancelled=True")


def test_a_second_cancellation_waits_no_longer():
    started, release = threading.Event(), threading.Event()

    @tool
    def hang() -> None:
        started.set()
        release.wait(10)

    async def main():
        task = asyncio.create_task(hang.run(ToolRun("hang", {}, "s:1")))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    release.set()


def test_a_cancelled_asynchronous_tool_stops():
    stopped = []

    @tool
    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append(True)

    async def main():
        task = asyncio.create_task(wait.run(ToolRun("wait", {}, "s:1")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    assert stopped == [True]


def _check(answer):
    def reconcile(run):
        if isinstance(answer, Exception):
            raise answer
        return answer and f"{answer} for {run.key}"

    return reconcile


async def _later(run):
    return ToolOutput(Status.ERROR, f"it failed then: {run.key}")


@pytest.mark.parametrize(
    ("reconcile", "expected"),
    [
        (_check(None), None),
        (_check("paid"), ToolOutput(Status.OK, "paid for s:9")),
        (_later, ToolOutput(Status.ERROR, "it failed then: s:9")),
        (
            _check(ValueError("no answer")),
            ToolOutput(
                Status.UNKNOWN, "Unknown: whether the call happened could not be checked. ValueError: no answer"
            ),
        ),
        (None, ToolOutput(Status.UNKNOWN, "Unknown: f cannot tell whether the call happened.")),
    ],
)
def test_reconcile_says_what_the_tools_own_check_found(reconcile, expected):
    made = tool(name="f", reconcile=reconcile)(lambda: None)

    assert asyncio.run(made.reconcile(ToolRun("f", {}, "s:9"))) == expected


def test_a_tool_can_still_be_called_as_the_function_that_it_is():
    @tool
    def double(value: int) -> int:
        return 2 * value

    assert double(4) == 8


def test_importing_the_package_imports_none_of_its_parts():
    before = {name for name in sys.modules if name.startswith("fsm.tools")}
    code = "import sys, fsm.tools; assert not [m for m in sys.modules if m.startswith('fsm.tools.')], sys.modules"
    import subprocess

    subprocess.run([sys.executable, "-c", code], check=True)
    assert "fsm.tools" in before
