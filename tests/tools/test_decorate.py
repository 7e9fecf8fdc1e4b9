"""What becomes of a call: arguments in their types, values and faults as outputs, cancellation told truly."""

import asyncio
import contextvars
import dataclasses
import datetime as dt
import logging
import math
import sys
import threading
import uuid
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Protocol, TypedDict, runtime_checkable

import attrs
import pytest
from support.virtual import run_virtually

from fsm.tools import Injected, ToolContext, ToolError, Tools, tool
from states.errors import ConfigError
from states.messages import Image
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
        (dt.datetime, "2026-01-02T03:04:05Z", dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)),
        (dt.date, "2026-01-02", dt.date(2026, 1, 2)),
        (dt.time, "03:04", dt.time(3, 4)),
        (date_or_time := dt.date | dt.datetime, "2026-01-02", dt.date(2026, 1, 2)),
        (date_or_time, "2026-01-02T00:00", dt.datetime(2026, 1, 2)),  # noqa: DTZ001  # as it was sent
        (uuid.UUID, str(uuid.UUID(int=7)), uuid.UUID(int=7)),
        (Decimal, "1.10", Decimal("1.10")),
        (Decimal, 0.1, Decimal("0.1")),
        (Path, "a/b", Path("a/b")),
        (bytes, "AP8=", b"\0\xff"),
        (dict[str, list[dt.date | None]], {"a": ["2026-01-02", None]}, {"a": [dt.date(2026, 1, 2), None]}),
        (Annotated[Decimal, "how much"] | None, "2", Decimal(2)),
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
    assert "pair: ValueError: left is negative" in output.text
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
        (
            [dt.date(2026, 1, 2), uuid.UUID(int=7), Decimal("1.10"), Path("a"), b"\0\xff", Colour.RED],
            '["2026-01-02","00000000-0000-0000-0000-000000000007","1.10","a","AP8=","red"]',
        ),
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


ENDLESS = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize("value", [ENDLESS, object(), {"deep": [object()]}, print, dt.UTC])
def test_a_value_without_a_json_form_is_an_error_that_says_that_the_tool_ran(value):
    output = run(tool(name="f")(lambda: value))

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


PICTURE = Image("image/png", "AAAA")


@pytest.mark.parametrize(
    ("value", "text", "images"),
    [
        (PICTURE, "", (PICTURE,)),
        (["before", PICTURE, {"a": 1}, PICTURE], 'before\n{"a":1}', (PICTURE, PICTURE)),
        ([], "[]", ()),
    ],
)
def test_pictures_stand_beside_the_text(value, text, images):
    assert run(tool(name="f")(lambda: value)) == ToolOutput(Status.OK, text, images=images)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_a_generator_yields_is_shown_and_the_last_is_the_result(asynchronous):
    @tool(name="f")
    def steps(count: int):
        for number in range(count):
            yield {"step": number}

    @tool(name="f")
    async def later(count: int):
        for number in range(count):
            yield {"step": number}

    lines = []
    output = run(later if asynchronous else steps, progress=lines.append, count=3)

    assert output == ToolOutput(Status.OK, '{"step":2}')
    assert lines == ['{"step":0}', '{"step":1}', '{"step":2}']
    assert run(later if asynchronous else steps, count=0) == ToolOutput(Status.OK, "")


def test_a_generator_that_returns_a_value_means_that_one():
    @tool
    def steps():
        yield "working"
        return "done"

    assert run(steps) == ToolOutput(Status.OK, "done")


def test_a_generator_that_raises_is_an_error():
    @tool
    async def steps():
        yield "working"
        raise ValueError("stuck")

    assert run(steps) == ToolOutput(Status.ERROR, "Error: ValueError: stuck")


def test_a_cancelled_generator_is_closed_and_what_it_had_shown_is_kept():
    closed = []

    async def main():
        reached = asyncio.Event()

        @tool
        async def steps():
            try:
                yield "one of three"
                reached.set()
                await asyncio.Event().wait()
            finally:
                closed.append(True)

        task = asyncio.create_task(steps.run(ToolRun("steps", {}, "s:1")))
        await reached.wait()
        task.cancel()
        return await task

    output = asyncio.run(main())

    assert output.status is Status.CANCELLED
    assert output.text.endswith("Until then it had shown:\none of three")
    assert closed == [True]


def test_a_thread_that_will_not_stop_is_left_behind_with_a_true_word():
    started, release = threading.Event(), threading.Event()

    @tool(grace=0.01)
    def stubborn(context: ToolContext) -> str:
        context.progress("half way")
        started.set()
        release.wait(10)
        return "done after all"

    async def main():
        task = asyncio.create_task(stubborn.run(ToolRun("stubborn", {}, "s:1")))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        return await task

    output = asyncio.run(main())
    release.set()

    assert output.status is Status.UNKNOWN
    assert "may still be running" in output.text
    assert output.text.endswith("half way")


def test_a_tool_can_wait_for_its_cancellation():
    context = ToolContext("s:1")
    assert not context.wait_cancelled(0)
    context.cancel()
    assert context.wait_cancelled(60)


class Database:
    def find(self):
        return "found"


@runtime_checkable
class Finder(Protocol):
    def find(self) -> str: ...


class Unfindable(Protocol):
    def find(self) -> str: ...


@tool
def search(query: str, db: Injected[Database], context: ToolContext, cache: Injected[dict[str, str] | None] = None):
    """Search."""
    return [query, db.find(), cache, context.session, str(context.workspace)]


def test_a_dependency_is_found_by_its_type_and_is_not_in_the_schema(tmp_path):
    def answer(context):
        tools = Tools([search], context=context, workspace=tmp_path)
        return asyncio.run(tools.run(ToolRun("search", {"query": "q"}, "my:session:7"))).text

    assert list(search.spec.parameters["properties"]) == ["query"]
    assert answer(Database()) == f'["q","found",null,"my:session","{tmp_path}"]'
    assert answer((Database(), {"a": "b"})) == f'["q","found",{{"a":"b"}},"my:session","{tmp_path}"]'


def test_a_dependency_may_be_a_protocol():
    @tool
    def look(finder: Injected[Finder]):
        return finder.find()

    tools = Tools([look], context=Database())

    assert asyncio.run(tools.run(ToolRun("look", {}, "s:1"))).text == "found"


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (None, ("'search'", "'db'", "Database", "holds nothing", "Loop(context=...)")),
        ("text", ("'search'", "'db'", "Database", "holds str")),
        ((Database(), Database()), ("'search'", "'db'", "2 of them")),
    ],
)
def test_a_missing_dependency_is_told_when_the_tools_are_gathered(context, words):
    with pytest.raises(ConfigError) as refused:
        Tools([search], context=context)

    for word in words:
        assert word in str(refused.value)


@pytest.mark.parametrize("kind", [Unfindable, Any])
def test_a_dependency_without_a_type_to_look_for_is_refused(kind):
    def f(value): ...

    f.__annotations__ = {"value": Injected[kind]}

    with pytest.raises(ConfigError, match=r"'value'.*cannot be found by its type"):
        tool(f)


@pytest.mark.parametrize("given", [0, -1, math.nan])
@pytest.mark.parametrize("name", ["grace", "quiet", "total"])
def test_what_is_no_time_is_refused(name, given):
    with pytest.raises(ConfigError, match=f"{name}=.* is no time"):
        tool(**{name: given})(run)


def test_a_silent_tool_is_stopped_and_what_it_had_shown_is_kept():
    stopped = []

    @tool(quiet=60)
    async def hang(context: ToolContext) -> None:
        context.progress("begun")
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    output = run_virtually(hang.run(ToolRun("hang", {}, "s:1")))

    assert output.status is Status.ERROR
    assert output.text.startswith("Error: stopped: no progress for 60 s. What it did until then remains.")
    assert output.text.endswith("begun")
    assert stopped == [True]


def test_progress_puts_the_end_off_up_to_the_ceiling():
    @tool(quiet=60, total=600)
    async def busy(context: ToolContext) -> None:
        while True:
            context.progress("still here")
            await asyncio.sleep(1)

    @tool(quiet=60)
    async def patient(context: ToolContext) -> str:
        for number in range(100):
            context.progress(f"{number}")
            await asyncio.sleep(59)
        return "done"

    assert "60 s or 600 s in all" in run_virtually(busy.run(ToolRun("busy", {}, "s:1"))).text
    assert run_virtually(patient.run(ToolRun("patient", {}, "s:1"))) == ToolOutput(Status.OK, "done")


def test_a_silent_thread_is_asked_to_stop_and_what_it_returns_counts():
    @tool(quiet=0.02)
    def waits(context: ToolContext) -> str:
        return f"stopped: {context.wait_cancelled(60)}"

    assert run(waits) == ToolOutput(Status.OK, "stopped: True")


def test_a_tools_own_timeout_is_its_own_fault():
    @tool(quiet=60)
    async def f() -> None:
        raise TimeoutError("the far side")

    assert run(f) == ToolOutput(Status.ERROR, "Error: TimeoutError: the far side")


def test_a_thread_that_was_left_behind_is_heard_no_more():
    started, release, over = threading.Event(), threading.Event(), threading.Event()

    @tool(quiet=0.02, grace=0.02)
    def stubborn(context: ToolContext) -> None:
        started.set()
        release.wait(10)
        context.progress("too late")
        over.set()

    lines = []

    async def main():
        output = await stubborn.run(ToolRun("stubborn", {}, "s:1", lines.append))
        release.set()
        await asyncio.to_thread(over.wait, 10)
        await asyncio.sleep(0)
        return output

    assert asyncio.run(main()).status is Status.UNKNOWN
    assert lines == []


@pytest.mark.parametrize(
    ("annotation", "given", "words"),
    [
        (list[dt.date], ["2026-01-02", "tomorrow"], "value[1]: 'tomorrow' is not a 'date'"),
        (uuid.UUID, "7", "value: '7' is not a 'uuid'"),
        (Decimal, "NaN", "value: 'NaN' is not a 'decimal'"),
        (Decimal, "one", "value: 'one' is not a 'decimal'"),
        (bytes, "*", "value: '*' is not a 'base64'"),
        (dt.datetime, 5, "value: expected string, got integer 5"),
    ],
)
def test_a_text_that_is_no_such_value_is_a_complaint_that_names_its_path(annotation, given, words):
    def f(value): ...

    f.__annotations__ = {"value": annotation}

    assert words in Tools([tool(f)]).complaint("f", {"value": given})


def test_the_traceback_is_in_the_log_and_only_there(caplog):
    caplog.set_level(logging.WARNING, "fsm.tools")

    @tool
    def explode() -> None:
        raise KeyError("x")

    assert run(explode) == ToolOutput(Status.ERROR, "Error: KeyError: 'x'")
    assert "tool explode raised" in caplog.text
    assert "in explode" in caplog.text


def test_what_a_tool_says_on_purpose_is_not_logged(caplog):
    run(tool(name="f")(lambda: _raise(ToolError("no such page."))))

    assert not caplog.records
