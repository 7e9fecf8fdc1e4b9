"""Who looks on has no vote, and hears of the end exactly once, whatever the end is."""

import asyncio

import pytest
from support.bench import Bench, Broken, story

from fsm import RunStatus, ToolContext, table, tool
from fsm import events as ev
from fsm.journal.memory import Fault
from fsm.providers.scripted import Scripted, asks_for, says
from gates.gate import Gate
from states.messages import Finish
from states.ports import ProviderTrouble
from states.records import Status, ToolResult, Trouble
from states.verdicts import Fail


class Faulty(Scripted):
    async def stream(self, request):
        raise ValueError("a bug of the adapter")
        yield


class Mute(Scripted):
    async def stream(self, request):
        return
        yield


class BadGate(Gate):
    name = "bad"
    may = (Fail,)

    def judge(self, history):
        raise KeyError("x")


def _raises(*_):
    raise RuntimeError("a bug of the toolbox")


def _failing(kind):
    def observe(event):
        if isinstance(event, kind):
            raise BrokenPipeError("nobody looks any more")

    return observe


@pytest.mark.parametrize("kind", [ev.RunStart, ev.TurnStart, ev.Delta, ev.ToolStart, ev.ToolEnd, ev.Moved, ev.RunEnd])
def test_an_observer_that_raises_changes_nothing(kind):
    async def tale():
        bench = Bench(asks_for(("write", {"what": "x"})), says("ok"))
        return bench, await bench.loop.run("go", session="s", on_event=_failing(kind))

    bench, result = story(tale())
    assert (result.status, result.text) == (RunStatus.SUCCEEDED, "ok")
    assert [what for _, what in bench.ledger.effects] == ["x"]


def test_an_observer_that_raises_is_named_in_the_log(caplog):
    story(Bench(says("ok")).loop.run("go", on_event=_failing(ev.TurnStart)))

    assert [record.exc_info[0] for record in caplog.records] == [BrokenPipeError]


def test_an_observer_that_raises_at_a_line_of_progress_does_not_fail_the_tool():
    @tool
    async def work(context: ToolContext) -> str:
        """Work, and say so."""
        context.progress("half")
        return "all done"

    async def tale():
        bench = Bench(asks_for(("work", {})), says("ok"), tools=[work])
        await bench.loop.run("go", session="s", on_event=_failing(ev.ToolProgress))
        return await bench.records(ToolResult)

    (result,) = story(tale())
    assert (result.status, result.output) == (Status.OK, "all done")


ENDS = {
    "finished": ({}, (says("ok"),), "finished"),
    "refused by the provider": ({}, (ProviderTrouble(Trouble.REFUSED, "no"),), "api_error"),
    "provider down": ({}, (ProviderTrouble(Trouble.DOWN, "later"),), "provider"),
    "filtered": ({}, (says("", Finish.FILTERED),), "content_filtered"),
    "waits for an approval": ({"permission": "ask"}, (asks_for(("write", {})),), "approval"),
    "first commit refused": ({"faults": [Fault.REFUSED]}, (says("ok"),), "message_persistence_failed"),
    "last commit lost": ({"faults": [Fault.NONE, Fault.LOST]}, (says("ok"),), "message_persistence_failed"),
    "adapter raises": ({"provider": Faulty([])}, (), "internal_error"),
    "adapter says nothing": ({"provider": Mute([])}, (), "internal_error"),
    "gate raises": ({"graph": table(at_candidate=(BadGate(),))}, (says("ok"),), "internal_error"),
    "toolbox raises": (
        {"wrap": lambda box: Broken(box, complaint=_raises)},
        (asks_for(("look", {})),),
        "internal_error",
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_run_that_was_shown_ends_with_exactly_one_run_end(end):
    """Its number says whether the end is durable; a run that broke off has none."""
    options, turns, reason = ENDS[end]
    bench = Bench(*turns, **options)
    (outcome,) = story(_outcome(bench))

    (last,) = bench.seen(ev.RunEnd)
    assert bench.events[-1] is last
    assert last.result.reason == reason
    assert (last.seq is None) == (reason in ("internal_error", "message_persistence_failed"))
    assert isinstance(outcome, Exception) if reason == "internal_error" else outcome == last.result


async def _outcome(bench):
    return await asyncio.gather(bench.run(), return_exceptions=True)


def test_a_cancelled_caller_is_not_the_end_of_the_story_for_the_observer():
    async def tale():
        bench = Bench(asks_for(("hang", {})))
        run = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        return bench, await bench.history()

    bench, history = story(tale())
    (last,) = bench.seen(ev.RunEnd)
    assert (last.seq, last.result.reason) == (history.seq, "resume")


def test_a_stream_whose_run_breaks_off_ends_with_run_end_and_then_raises():
    async def listen():
        async for event in Bench(provider=Faulty([])).loop.stream("go"):
            seen.append(event)  # noqa: PERF401  a comprehension would lose them all to the error

    seen = []
    with pytest.raises(ValueError, match="a bug of the adapter"):
        story(listen())
    assert isinstance(seen[-1], ev.RunEnd)


def test_parallel_results_are_shown_in_the_models_order():
    bench = Bench(asks_for(("look", {"key": "slow", "seconds": 0.05}), ("look", {"key": "fast"})), says("ok"))
    story(bench.run())

    assert [event.output for event in bench.seen(ev.ToolEnd)] == ["seen slow", "seen fast"]


def test_a_resume_names_its_session_first():
    async def tale():
        bench = Bench(asks_for(("write", {"what": "x"})), says("ok"), permission="ask")
        await bench.run()
        bench.events.clear()
        await bench.resume(approve=["call_1_0"])
        return bench.events

    first, *others = story(tale())
    assert first == ev.RunResumed("s", 1)
    assert not any(isinstance(event, ev.RunResumed) for event in others)
