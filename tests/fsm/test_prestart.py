"""Calls that start while their answer is still streamed: which may, and what becomes of them if it does not come."""

import asyncio

import pytest
from support.bench import Bench, story
from support.paced import Desk, Paced, asks, ready

from fsm import Budget, RunStatus
from fsm import events as ev
from fsm.audit import audit
from fsm.clock import SystemClock
from fsm.graph import GRAPH
from fsm.journal.memory import Fault, MemoryJournal
from fsm.providers.scripted import says
from states.errors import ConfigError
from states.messages import Finish
from states.ports import ProviderTrouble
from states.records import (
    AssistantTurn,
    Prestart,
    PrestartsDropped,
    Status,
    ToolIntent,
    ToolResult,
    Trouble,
    TurnDiscarded,
)

A, B, C = ('{"key":"a"}', '{"key":"b"}', '{"key":"c"}')


class Hasty(SystemClock):
    """Nobody waits before asking again."""

    async def sleep(self, seconds):
        await super().sleep(0.0 if seconds >= 0.5 else seconds)


def bench_of(desk, *turns, prestart=("read",), **options):
    return Bench(provider=Paced(*turns), tools=desk.tools(), prestart=prestart, clock=Hasty(), **options)


async def settled():
    for _ in range(30):
        await asyncio.sleep(0)


async def justified(bench):
    assert audit(GRAPH, await bench.journal.read("s"), "s") == []


def test_a_read_ends_before_the_answer_does_and_its_result_is_the_one_that_is_sent():
    async def tale():
        desk = Desk()
        turn = [ready(0, "read", A), desk.begun("a"), desk.let("a"), asks(("read", A))]
        bench = bench_of(desk, turn, [says("done")])
        result = await bench.run()
        await justified(bench)
        return desk, bench, result, await bench.records(ToolIntent), await bench.records(Prestart)

    desk, bench, result, intents, (prestart,) = story(tale())
    assert (result.text, desk.seen) == ("done", ["a starts", "a ends"])
    assert intents == []
    assert prestart == Prestart("call_1_0", "read", A, 0, 0)
    assert [answer.text for answer in bench.answers()] == ["read a"]


def test_a_read_that_goes_on_longer_than_its_answer_is_waited_for_and_runs_once():
    async def tale():
        desk = Desk()
        bench = bench_of(desk, [ready(0, "read", A), desk.begun("a"), asks(("read", A))], [says("done")])
        run = asyncio.create_task(bench.run())
        await desk.start_of("a")
        await settled()
        turns = len(await bench.records(AssistantTurn))
        desk.allow("a")
        await run
        return desk, turns, bench.answers()

    desk, turns, (answer,) = story(tale())
    assert turns == 1, "the turn is durable at its end, whatever still runs"
    assert desk.seen == ["a starts", "a ends"]
    assert answer.text == "read a"


NOT_EARLY = {
    "a tool that is not on the list": [("peek", A)],
    "a tool that has effects": [("change", A)],
    "a read that needs the line for itself": [("alone", A)],
    "an unknown tool": [("nothing", A)],
    "arguments that break off": [("read", '{"key": "a"')],
    "arguments that do not fit": [("read", '{"key": 7}')],
    "a read behind something exclusive": [("change", B), ("read", A)],
    "a read behind a read that is not on the list": [("peek", B), ("read", A)],
    "a read behind nonsense": [("read", "{oops"), ("read", A)],
}


@pytest.mark.parametrize("case", NOT_EARLY)
def test_what_may_not_start_early_waits_for_its_turn(case):
    calls = NOT_EARLY[case]

    async def tale():
        desk, early = Desk(), []
        desk.allow("a", "b")

        async def look():
            await settled()
            early.extend(desk.seen)

        turn = [*(ready(n, *call) for n, call in enumerate(calls)), look, asks(*calls)]
        bench = bench_of(desk, turn, [says("done")])
        await bench.run()
        await justified(bench)
        return early, await bench.records(Prestart), bench.answers()

    early, prestarts, answers = story(tale())
    assert (early, prestarts) == ([], [])
    assert len(answers) == len(calls)


def test_without_a_list_nothing_starts_early_however_safe_it_says_it_is():
    async def tale():
        desk, early = Desk(), []
        desk.allow("a")

        async def look():
            await settled()
            early.extend(desk.seen)

        bench = bench_of(desk, [ready(0, "read", A), look, asks(("read", A))], [says("done")], prestart=())
        await bench.run()
        return early, bench.answers()

    early, (answer,) = story(tale())
    assert early == []
    assert answer.text == "read a"


@pytest.mark.parametrize(
    ("budget", "early"), [(Budget(max_turns=1), []), (Budget(max_tool_calls=1), ["a starts", "a is stopped"])]
)
def test_a_call_that_the_budget_will_not_let_run_does_not_start_early(budget, early):
    async def tale():
        desk = Desk()
        turn = [ready(0, "read", A), ready(1, "read", B), settled, asks(("read", A), ("read", B))]
        bench = bench_of(desk, turn, budget=budget)
        result = await bench.run()
        return desk.seen, result

    seen, result = story(tale())
    assert (seen, result.reason) == (early, "budget")


def test_intents_are_durable_in_the_models_order_before_anything_starts():
    async def tale():
        desk, waiting = Desk(), []

        class Slow(MemoryJournal):
            async def append(self, claim, drafts):
                if any(isinstance(draft.entry.record, Prestart) for draft in drafts):
                    waiting.append(list(desk.seen))
                    await settled()
                await super().append(claim, drafts)

        desk.allow("a", "b", "c")
        calls = [("read", A), ("read", B), ("read", C)]
        turn = [*(ready(n, *call) for n, call in enumerate(calls)), desk.begun("c"), asks(*calls)]
        bench = bench_of(desk, turn, [says("done")], journal=Slow())
        await bench.run()
        return waiting, await bench.records(Prestart), bench.answers()

    waiting, prestarts, answers = story(tale())
    assert waiting == [[]], "what waits together is one commit, and nothing has started before it"
    assert [record.order for record in prestarts] == [0, 1, 2]
    assert [answer.text for answer in answers] == ["read a", "read b", "read c"]


@pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.LOST, Fault.KEPT])
def test_an_intent_that_cannot_be_committed_starts_nothing_and_stops_the_run(fault):
    async def tale():
        desk = Desk()
        hang = asyncio.Event()
        turn = [ready(0, "read", A), hang.wait, asks(("read", A))]
        bench = bench_of(desk, turn, [says("done")], faults=[Fault.NONE, fault])
        result = await bench.run()
        bench.journal.crash()
        again = await bench.resume()
        await justified(bench)
        return desk.seen, result, again, await bench.records(PrestartsDropped)

    seen, result, again, dropped = story(tale())
    assert (seen, result.status, result.reason) == ([], RunStatus.FAILED, "tool_persistence_failed")
    assert again.text == "done"
    assert [fate.status for record in dropped for fate in record.fates] == [Status.UNKNOWN] * (fault is Fault.KEPT)


DISCARDS = {
    "a stream that breaks off": ProviderTrouble(Trouble.CUT, "gone"),
    "an answer that was cut off at the limit": asks(("read", A), finish=Finish.LENGTH),
    "an answer that holds another call in its place": asks(("read", B)),
    "an answer without the call": says("never mind"),
}


@pytest.mark.parametrize("stubborn", [False, True])
@pytest.mark.parametrize("case", DISCARDS)
def test_what_ran_ahead_of_a_turn_that_does_not_come_is_stopped_waited_for_and_dead(case, stubborn):
    async def tale():
        desk = Desk()
        desk.stubborn = {"a"} if stubborn else set()

        desk.allow("b", "c")
        bench = bench_of(
            desk,
            [ready(0, "read", A), desk.begun("a"), DISCARDS[case]],
            [ready(0, "read", C), desk.begun("c"), desk.let("c"), asks(("read", C))],
            [says("done")],
            [says("done")],
        )
        run = asyncio.create_task(bench.run())
        await desk.stop_of("a")
        asked = len(bench.provider.requests)
        desk.allow("a")
        result = await run
        await justified(bench)
        return asked, bench, result, await bench.records(PrestartsDropped), await bench.records(ToolResult)

    asked, bench, result, (dropped,), results = story(tale())
    assert asked == 1, "the model is not asked again before what ran ahead has ended"
    assert result.status is RunStatus.SUCCEEDED
    assert dropped.epoch == 1
    assert [fate.status for fate in dropped.fates] == [Status.CANCELLED]
    assert ("not used" in dropped.fates[0].note) is stubborn
    assert all(record.epoch >= 1 and record.output != "read a" for record in results)
    assert not any("read a" in str(request.messages) for request in bench.provider.requests)
    assert len(bench.seen(ev.ToolsDropped)) == 1


def test_a_cancelled_run_drops_what_ran_ahead_and_goes_on_without_it():
    async def tale():
        desk = Desk()
        hang = asyncio.Event()
        bench = bench_of(desk, [ready(0, "read", A), desk.begun("a"), hang.wait], [says("done")])
        run = asyncio.create_task(bench.run())
        await desk.start_of("a")
        await bench.loop.cancel("s", "enough")
        first = await run
        second = await bench.resume()
        await justified(bench)
        return desk, first, second, await bench.records(PrestartsDropped)

    desk, first, second, (dropped,) = story(tale())
    assert (first.reason, second.text) == ("resume", "done")
    assert desk.seen == ["a starts", "a is stopped"]
    assert dropped.fates[0].status is Status.CANCELLED


def test_what_a_lost_process_had_started_ahead_is_dropped_by_the_next_and_not_run_again():
    async def tale():
        desk, moment = Desk(), asyncio.Event()

        async def lost():
            await desk.start_of("a")
            moment.set()
            await asyncio.Event().wait()

        bench = bench_of(desk, [ready(0, "read", A), lost], [says("done")])
        await bench.lost_at(moment)
        result = await bench.resume()
        await justified(bench)
        return desk, result, await bench.records(PrestartsDropped), await bench.history()

    desk, result, (dropped,), history = story(tale())
    assert result.text == "done"
    assert desk.seen.count("a starts") == 1
    assert (dropped.epoch, history.epoch, dropped.fates[0].status) == (1, 1, Status.UNKNOWN)


def test_a_read_that_was_adopted_and_lost_runs_again_under_its_own_key():
    async def tale():
        desk, moment = Desk(), asyncio.Event()
        bench = bench_of(desk, [ready(0, "read", A), desk.begun("a"), asks(("read", A))], [says("done")])

        class Told(list):
            def append(self, event):
                super().append(event)
                if isinstance(event, ev.Moved) and event.target == "dispatch_tools":
                    moment.set()

        bench.events = Told()
        await bench.lost_at(moment)
        desk.allow("a")
        result = await bench.resume()
        await justified(bench)
        return desk, result, bench.answers()

    desk, result, (answer,) = story(tale())
    assert (result.text, answer.text) == ("done", "read a")
    assert desk.seen.count("a starts") == 2


def test_a_run_that_rests_for_an_approval_keeps_what_had_ended_and_stops_the_rest():
    async def tale():
        desk = Desk()
        calls = [("read", A), ("read", B), ("change", C)]
        turn = [ready(0, "read", A), ready(1, "read", B), desk.begun("b"), desk.let("a"), asks(*calls)]
        bench = bench_of(desk, turn, [says("done")], permission="ask")
        first = await bench.run()
        seen, results = list(desk.seen), await bench.records(ToolResult)
        desk.allow("b", "c")
        second = await bench.resume(approve=["call_1_2"])
        await justified(bench)
        return first, seen, results, second, desk.seen, bench.answers()

    first, seen, (kept,), second, after, answers = story(tale())
    assert (first.reason, second.text) == ("approval", "done")
    assert (kept.call, kept.status) == ("call_1_0", Status.OK)
    assert seen == ["a starts", "b starts", "a ends", "b is stopped"]
    assert after[4:] == ["b starts", "b ends", "c starts", "c ends"]
    assert [answer.text for answer in answers] == ["read a", "read b", "read c"]


def test_ids_and_places_come_again_after_a_discard():
    async def tale():
        desk = Desk()
        desk.allow("b")
        bench = bench_of(
            desk,
            [ready(0, "read", A), desk.begun("a"), ProviderTrouble(Trouble.CUT, "gone")],
            [ready(0, "read", B), desk.begun("b"), asks(("read", B))],
            [says("done")],
        )
        await bench.run()
        await justified(bench)
        return await bench.records(Prestart), await bench.records(TurnDiscarded), bench.answers()

    prestarts, discarded, (answer,) = story(tale())
    assert [record.call for record in prestarts] == ["call_1_0", "call_1_0"]
    assert [record.epoch for record in prestarts] == [0, discarded[0].epoch]
    assert answer.text == "read b"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["nothing"], "there is no tool 'nothing'; those that may be named are: look, read, peek"),
        (["change"], "'change' does not declare itself read_only and concurrency_safe"),
        (["alone"], "'alone' does not declare itself read_only and concurrency_safe"),
        ("read", "give a list of names"),
    ],
)
def test_a_name_that_may_not_start_early_is_refused(names, said):
    with pytest.raises(ConfigError, match=said):
        bench_of(Desk(), [], prestart=names)
