"""However a run is stopped, it rests on record, says what it waits for, and can go on."""

import asyncio

import pytest
from support.bench import Bench, story
from support.virtual import VirtualClock, run_virtually

from fsm import Budget, RunStatus, tool
from fsm import events as ev
from fsm.audit import audit
from fsm.checks.stage import StageClock
from fsm.graph import GRAPH
from fsm.journal.memory import Fault, MemoryJournal
from fsm.providers.scripted import Scripted, asks_for, says
from states.errors import InterlockError, JournalUnusable
from states.messages import UserMessage
from states.names import State
from states.ports import ProviderTrouble, TextDelta
from states.records import Cancellation, Status, Suspended, ToolResult, Trouble
from states.verdicts import WaitsFor


class Gated(MemoryJournal):
    """One append waits: `reached` is set when it is about to begin, and it goes on when `opened` is."""

    def __init__(self, waits=lambda drafts: True):
        super().__init__()
        self.waits = waits
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def append(self, claim, drafts):
        if not self.reached.is_set() and self.waits(drafts):
            self.reached.set()
            await self.opened.wait()
        await super().append(claim, drafts)


class Silent(Scripted):
    """Says half a word and then nothing more, as long as it `hangs`."""

    hangs = True

    def __init__(self, *later):
        super().__init__(later)
        self.reached = asyncio.Event()

    async def stream(self, request):
        if self.hangs:
            yield TextDelta("half an ans")
            self.reached.set()
            await asyncio.Event().wait()
        async for item in super().stream(request):
            yield item


async def cancelled(run):
    with pytest.raises(asyncio.CancelledError):
        await run


def test_a_caller_that_is_cancelled_while_the_run_is_opened_leaves_it_at_rest():
    async def tale():
        bench = Bench(says("ok"), journal=Gated())
        run = asyncio.create_task(bench.run())
        await bench.journal.reached.wait()
        run.cancel()
        bench.journal.opened.set()
        await cancelled(run)
        return bench, await bench.history()

    bench, history = story(tale())
    assert history.rest == Suspended(WaitsFor.RESUME, "cancelled: the caller cancelled the run")
    assert bench.provider.requests == []
    assert bench.seen(ev.RunStart)


def test_a_cancellation_by_note_before_newer_words_stops_the_run_and_keeps_the_words():
    """The words cannot be sealed before the run stops: it must not try that again and again."""

    class Counting(MemoryJournal):
        reads = 0

        async def read(self, session):
            self.reads += 1
            return await super().read(session)

    async def tale():
        def answer(request):
            asyncio.get_running_loop().create_task(notes())
            return says("one")

        async def notes():
            await bench.journal.post("s", None)
            await bench.journal.post("s", "hello")

        bench = Bench(answer, says("two"), journal=Counting(), clock=StageClock())
        first = await bench.run()
        return bench, first, bench.journal.reads, await bench.resume()

    bench, first, reads, second = story(tale())
    assert (first.reason, reads) == ("resume", 1)
    assert second.text == "two"
    assert UserMessage("hello") in bench.asked()


def test_a_cancellation_by_another_process_reaches_a_running_tool_within_a_tenth_of_a_second():
    """At whatever moment between two looks it comes; by the loop's own clock, so that no load can spoil it."""

    async def tale(moment):
        felt, running, clock = [], asyncio.Event(), asyncio.get_running_loop().time

        @tool
        async def work() -> str:
            running.set()
            try:
                await asyncio.Event().wait()
            finally:
                felt.append(clock())

        bench = Bench(asks_for(("work", {})), tools=[work], clock=VirtualClock())
        run = asyncio.create_task(bench.run())
        await running.wait()
        await asyncio.sleep(moment)
        posted = clock()
        assert await Bench(journal=bench.journal, clock=VirtualClock()).loop.cancel("s")
        assert (await run).status is RunStatus.SUSPENDED
        return felt[0] - posted

    delays = [run_virtually(tale(moment / 100)) for moment in range(25)]

    assert max(delays) <= 0.1
    assert max(delays) > 0, "a note is found by looking; else this shows nothing"


def test_a_cancellation_that_nobody_asked_for_is_an_error_and_no_rest():
    class Odd(Scripted):
        async def stream(self, request):
            future = asyncio.get_running_loop().create_future()
            future.cancel()
            await future
            yield

    async def tale():
        bench = Bench(provider=Odd([]))
        with pytest.raises(InterlockError, match="within the activity of provider_turn"):
            await bench.run()
        return await bench.history(), await bench.records(Cancellation)

    history, cancellations = story(tale())
    assert (history.state, cancellations) == (State.PROVIDER_TURN, [])


def test_a_cancellation_that_arrives_while_the_run_is_reopened_is_meant_for_it():
    class Interrupted(MemoryJournal):
        cancels = False

        async def read(self, session):
            entries = await super().read(session)
            if self.cancels:
                self.cancels = False
                assert await Bench(journal=self).loop.cancel("s")
            return entries

    async def tale():
        bench = Bench(ProviderTrouble(Trouble.DOWN, "x"), says("to its end"), journal=Interrupted(), clock=StageClock())
        await bench.run()
        bench.journal.cancels = True
        return await bench.resume()

    assert story(tale()).reason == "resume"


def test_a_caller_that_is_cancelled_while_the_seal_is_refused_is_heard():
    async def tale():
        bench = Bench(says("one"), says("two"), journal=Gated(lambda drafts: any(d.seals is not None for d in drafts)))
        run = asyncio.create_task(bench.run())
        await bench.journal.reached.wait()
        await bench.loop.steer("s", "late")
        run.cancel()
        await asyncio.sleep(0)  # the cancellation is delivered before the store answers
        bench.journal.opened.set()
        await cancelled(run)
        return await bench.history(), await bench.resume()

    history, second = story(tale())
    assert (history.state, history.turns) == (State.SUSPENDED, 1)
    assert second.text == "two"


def test_a_call_that_is_cancelled_while_its_intent_is_committed_was_never_started():
    async def tale():
        journal = Gated(lambda drafts: any(d.kind == "tool_intent" for d in drafts))
        bench = Bench(asks_for(("write", {"what": "x"})), journal=journal)
        run = asyncio.create_task(bench.run())
        await journal.reached.wait()
        await bench.loop.cancel("s")
        journal.opened.set()
        return bench, await run, await bench.records(ToolResult)

    bench, result, (answer,) = story(tale())
    assert (result.reason, bench.ledger.effects) == ("resume", [])
    assert (answer.status, answer.output) == (Status.CANCELLED, "Cancelled: this call was never started.")


def test_cancelling_a_session_that_never_began_writes_nothing():
    async def tale():
        bench = Bench(says("ok"), faults=[Fault.REFUSED])
        await bench.run()
        said = await bench.loop.cancel("s")
        return said, await bench.journal.read("s"), await bench.resume("go"), await bench.journal.read("s")

    said, before, result, after = story(tale())
    assert (said, before) == (False, [])
    assert result.status is RunStatus.SUCCEEDED
    assert audit(GRAPH, after, "s") == []


def test_a_cancellation_that_cannot_be_written_is_not_reported_as_done():
    async def tale():
        bench = Bench(asks_for(("hang", {})))
        await bench.lost_at(bench.ledger.started)
        bench.journal._faults = iter([Fault.REFUSED])
        with pytest.raises(JournalUnusable, match="was to be refused"):
            await bench.loop.cancel("s")
        return await bench.history(), await bench.loop.cancel("s")

    history, again = story(tale())
    assert history.state is State.AWAIT_RESULTS
    assert again is True


def test_a_limit_in_seconds_ends_a_provider_that_hangs():
    async def tale():
        bench = Bench(provider=Silent(says("back")), budget=Budget(seconds=0.01), clock=StageClock())
        first = await bench.run()
        bench.provider.hangs = False
        return first, await bench.resume(budget=Budget(seconds=60))

    first, second = story(tale())
    assert (first.status, first.reason) == (RunStatus.SUSPENDED, "budget")
    assert "0.01 seconds" in first.message
    assert second.text == "back"


def test_a_limit_in_seconds_ends_a_tool_that_hangs():
    async def tale():
        bench = Bench(asks_for(("hang", {})), says("ok"), permission="ask", clock=StageClock())
        await bench.run()
        first = await bench.resume(approve=["call_1_0"], budget=Budget(seconds=0.01))
        return bench, first, await bench.resume(budget=Budget(seconds=60))

    bench, first, second = story(tale())
    assert (first.reason, second.text) == ("budget", "ok")
    assert bench.answers()[0].text.startswith("Cancelled:")


def test_time_that_was_used_up_before_leaves_none_for_a_provider_that_hangs():
    async def tale():
        clock = StageClock()
        bench = Bench(provider=Silent(), budget=Budget(seconds=60), clock=clock)
        bench.journal._after = lambda claim, drafts: clock.advance(61)
        return await bench.run()

    assert story(tale()).reason == "budget"


def test_an_answer_that_was_being_shown_is_declared_void_by_the_stop():
    async def tale():
        bench = Bench(provider=Silent(), clock=StageClock())
        run = asyncio.create_task(bench.run())
        await bench.provider.reached.wait()
        await bench.loop.cancel("s", "enough")
        await run
        return bench

    bench = story(tale())
    kinds = [type(event) for event in bench.events]
    assert kinds[-4:] == [ev.Delta, ev.Interrupted, ev.Moved, ev.RunEnd]
    assert bench.seen(ev.Interrupted)[0].reason == "enough"


def test_the_audit_finds_nothing_wrong_with_a_run_that_its_seconds_ended():
    async def tale():
        bench = Bench(asks_for(("hang", {})), budget=Budget(seconds=0.01), clock=StageClock())
        await bench.run()
        return await bench.journal.read("s")

    assert audit(GRAPH, story(tale()), "s") == []
