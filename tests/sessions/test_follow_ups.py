"""What is queued begins when the run before it has succeeded: once, in order, and not for ever."""

import asyncio

import pytest
from support.bench import Bench, story

from fsm import Loop, RunStatus
from fsm import events as ev
from fsm.journal.memory import MemoryJournal
from fsm.loop import CHAINED
from fsm.providers.scripted import Scripted, asks_for, says
from states.errors import ConfigError, UnknownSession
from states.fold import GO_ON
from states.messages import UserMessage
from states.ports import ProviderTrouble
from states.records import Source, Trouble, UserInput


def test_a_queued_follow_up_begins_a_run_of_its_own_when_the_first_has_succeeded():
    async def tale():
        bench = Bench(says("one"), says("two"), says("three"))
        await bench.run()
        await bench.loop.follow_up("s", "second")
        await bench.loop.follow_up("s", "third")
        result = await bench.resume()
        return bench, result, await bench.records(UserInput), await bench.history()

    bench, result, inputs, history = story(tale())
    assert (result.text, history.run) == ("three", 3)
    assert [(i.text, i.source) for i in inputs[1:]] == [("second", Source.FOLLOW_UP), ("third", Source.FOLLOW_UP)]
    assert [event.result.text for event in bench.seen(ev.RunEnd)] == ["one", "two", "three"]
    assert history.spent.total == 3 * history.usage.total


def test_one_that_is_queued_while_the_run_goes_on_begins_by_itself():
    async def tale():
        bench = Bench(asks_for(("hang", {})), says("two"), says("three"))
        run = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        await bench.loop.follow_up("s", "after that")
        await bench.loop.cancel("s")
        rested = await run
        return rested, await bench.resume()

    rested, done = story(tale())
    assert rested.status is RunStatus.SUSPENDED, "a run that did not succeed is followed by nothing"
    assert done.text == "three"


def test_the_same_id_is_queued_once_and_never_again():
    async def tale():
        bench = Bench(says("one"), says("two"))
        await bench.run()
        first = await bench.loop.follow_up("s", "second", id="job-7")
        again = await bench.loop.follow_up("s", "second", id="job-7")
        with pytest.raises(ConfigError, match="'job-7' with other words"):
            await bench.loop.follow_up("s", "something else", id="job-7")
        await bench.resume()
        late = await bench.loop.follow_up("s", "second", id="job-7")
        await bench.resume()
        return first, again, late, await bench.history()

    first, again, late, history = story(tale())
    assert first == again == late
    assert history.run == 2


def test_twenty_follow_each_other_and_the_rest_waits_for_somebody():
    async def tale():
        bench = Bench(*(says(f"answer {n}") for n in range(CHAINED + 3)))
        await bench.run()
        for n in range(CHAINED + 1):
            await bench.loop.follow_up("s", f"follow-up {n}")
        chained = await bench.resume()
        before = await bench.history()
        return chained, before.run, (await bench.resume()).text

    chained, runs, last = story(tale())
    assert (chained.text, runs, last) == ("answer 20", 1 + CHAINED, "answer 21")


def test_an_empty_follow_up_and_one_for_nobody_are_refused():
    async def tale():
        bench = Bench(says("one"))
        await bench.run()
        with pytest.raises(ConfigError, match="empty"):
            await bench.loop.follow_up("s", "  ")
        with pytest.raises(UnknownSession):
            await bench.loop.follow_up("t", "hello")

    story(tale())


async def lost_after_the_end(bench):
    """The run is durable, and its process is lost before it has told anybody."""
    await bench.journal.claim("s")
    bench.journal.crash()
    bench.events.clear()


@pytest.mark.parametrize("waits", ["a message", "a follow-up"])
def test_an_answer_that_was_lost_on_its_way_is_given_before_anything_new_begins(waits):
    """Neither is the model asked again, nor is the answer lost."""

    async def tale():
        bench = Bench(says("one"), says("two"))
        await bench.run()
        post = bench.loop.steer if waits == "a message" else bench.loop.follow_up
        await lost_after_the_end(bench)
        await post("s", "and now?")
        return bench, await bench.resume()

    bench, after = story(tale())
    assert after.text == "two"
    assert [event.result.text for event in bench.seen(ev.RunEnd)] == ["one", "two"]
    assert len(bench.provider.requests) == 2


def test_an_answer_that_was_heard_is_not_given_again_with_the_next_one():
    async def tale():
        bench = Bench(says("one"), says("two"))
        await bench.run()
        await bench.loop.steer("s", "and now?")
        await bench.resume()
        return bench

    assert [event.result.text for event in story(tale()).seen(ev.RunEnd)] == ["one", "two"]


def test_without_anything_new_the_last_answer_is_given_again_and_no_model_is_asked():
    async def tale():
        bench = Bench(says("one"))
        await bench.run()
        await lost_after_the_end(bench)
        return await bench.resume(), await bench.resume(), len(bench.provider.requests)

    lost, heard, asked = story(tale())
    assert (lost.text, heard.text, asked) == ("one", "one", 1)


def test_a_follow_up_is_not_begun_twice_by_a_crash_between_the_runs():
    async def tale(at):
        seen = []

        def die(claim, drafts):
            seen.append(drafts)
            if len(seen) == at:
                raise asyncio.CancelledError

        journal = MemoryJournal(after=die)
        bench = Bench(says("one"), says("two"), says("two"), says("two"), journal=journal)
        claim = await journal.claim("s", create=True)
        await journal.release(claim)
        await bench.loop.follow_up("s", "second", id="1")
        await asyncio.gather(bench.loop.resume("s", "first"), return_exceptions=True)
        journal.crash()
        while (await bench.history()).run < 2 or (await bench.resume()).text != "two":
            await bench.resume()
        return [i.text for i in await bench.records(UserInput)]

    for at in range(1, 9):
        assert story(tale(at)) == ["first", "second"], at


def told(bench, number=-1):
    return [m for m in bench.asked(number) if m == UserMessage(GO_ON)]


def test_after_a_crash_the_model_is_told_once_however_often_the_process_is_lost():
    async def tale():
        bench = Bench(asks_for(("hang", {})), ProviderTrouble(Trouble.DOWN, "x"), says("done"))
        await bench.lost_at(bench.ledger.started)
        lost_again = asyncio.Event()
        bench.loop._providers[0].stream, stream = lambda request: never(lost_again), bench.provider.stream
        second = asyncio.create_task(bench.resume())
        await lost_again.wait()
        bench.journal.crash()
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        bench.journal.crash()
        bench.loop._providers[0].stream = stream
        await bench.resume()
        await bench.resume()
        return bench

    bench = story(tale())
    assert len(told(bench)) == 1


async def never(asked):
    asked.set()
    await asyncio.Event().wait()
    yield


def test_a_run_that_was_lost_before_the_model_had_said_anything_or_after_it_was_done_is_not_talked_about():
    async def tale():
        asked = asyncio.Event()
        bench = Bench(says("done"))
        stream = bench.provider.stream
        bench.provider.stream = lambda request: never(asked)
        await bench.lost_at(asked)
        bench.provider.stream = stream
        await bench.resume()
        return bench

    assert told(story(tale())) == []


def test_runs_beyond_the_limit_wait_in_the_order_in_which_they_came():
    class Gate(Scripted):
        def __init__(self):
            super().__init__([says(f"{n}") for n in range(6)])
            self.open, self.full, self.begun, self.most, self.now = asyncio.Event(), asyncio.Event(), [], 0, 0

        async def stream(self, request):
            self.begun.append(request.session)
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now == 2:
                self.full.set()
            await self.open.wait()
            async for item in super().stream(request):
                self.now -= 1
                yield item

    async def tale():
        gate = Gate()
        loop = Loop(provider=gate, journal=MemoryJournal(), max_runs=2)
        runs = [asyncio.create_task(loop.run("go", session=f"s{n}")) for n in range(5)]
        await gate.full.wait()
        runs[3].cancel()
        gate.open.set()
        done = await asyncio.gather(*runs, return_exceptions=True)
        return gate, done, [found.info.session for found in await loop.sessions()]

    gate, done, sessions = story(tale())
    assert (gate.begun, gate.most) == (["s0", "s1", "s2", "s4"], 2)
    assert isinstance(done[3], asyncio.CancelledError)
    assert "s3" not in sessions, "whoever was cancelled while waiting has begun nothing"


def test_room_for_no_run_at_all_is_refused():
    with pytest.raises(ConfigError, match="max_runs must be at least 1, not 0"):
        Loop(provider=Scripted([]), journal=":memory:", max_runs=0)
