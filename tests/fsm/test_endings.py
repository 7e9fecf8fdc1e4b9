"""What counts as an answer, what counts as proof, and under which table a run may end."""

import asyncio

import attrs
import pytest
from support.bench import Bench, story
from support.boxes import Revision

from fsm import Budget, Contract, RunStatus, table, tool
from fsm import events as ev
from fsm.audit import audit
from fsm.clock import SystemClock
from fsm.graph import AT_VERIFY
from fsm.journal.memory import MemoryJournal
from fsm.loop import LISTEN_SECONDS
from fsm.providers.scripted import asks_for, says
from gates.gate import Gate
from gates.inputs_answered import inputs_answered, late_inputs_answered
from states.errors import ConfigError, Fenced, GateError
from states.messages import Finish, UserMessage
from states.ports import ProviderTrouble, ToolOutput
from states.records import Evidence, Status, Trouble
from states.verdicts import Fail, Pass, Retry

CHECK = Contract(checks=("test",))
DOWN = ProviderTrouble(Trouble.DOWN, "later")


class Reviewed(Gate):
    name = "reviewed"
    may = (Fail,)

    def judge(self, history):
        return Fail("not_reviewed", "nobody reviewed it")


class Raises(Gate):
    name = "raises"
    may = (Fail,)

    def judge(self, history):
        raise KeyError("x")


class Changelog(Gate):
    """Objects once, and says nothing to the model itself."""

    name = "changelog"
    may = (Retry,)

    def judge(self, history):
        return Pass() if history.retries[self.name] else Retry("the changelog is missing")


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.PAUSED])
def test_an_answer_in_two_parts_is_delivered_whole(finish):
    result = story(Bench(says("part one, ", finish), says("part two.")).run())

    assert result.text == result.receipt.text == "part one, part two."


def test_what_a_continuation_repeats_is_delivered_once():
    bench = Bench(says("The quick brown fox jumps ov", Finish.LENGTH), says("The quick brown fox jumps over the dog."))
    result = story(bench.run())

    assert result.text == result.receipt.text == "The quick brown fox jumps over the dog."


def test_an_answer_after_tools_is_not_joined_to_what_was_said_before_them():
    paused = attrs.evolve(asks_for(("look", {}), text="let me see "), finish=Finish.PAUSED)

    assert story(Bench(paused, says("the answer")).run()).text == "the answer"


def test_the_next_answer_after_a_whole_one_stands_alone():
    bench = Bench(says("part one, ", Finish.LENGTH), says("two."), says("another"), graph=table((Changelog(),)))

    assert story(bench.run()).text == "another"


@pytest.mark.parametrize("finish", [Finish.CALLS, Finish.UNKNOWN])
def test_an_answer_that_ended_oddly_and_asked_for_nothing_is_asked_for_once_more(finish):
    bench = Bench(says("I will now run the", finish), says("the answer"))
    result = story(bench.run())

    assert result.text == "the answer"
    assert isinstance(bench.asked()[-1], UserMessage)


def test_an_odd_end_counts_the_second_time():
    result = story(Bench(says("one", Finish.UNKNOWN), says("two", Finish.UNKNOWN)).run())

    assert (result.status, result.text) == (RunStatus.SUCCEEDED, "two")


def test_a_tool_cannot_vouch_for_the_workspace():
    """Only what was watched from outside carries a revision; a read-only tool is not watched."""

    @tool(read_only=True)
    async def claims() -> ToolOutput:
        """Claim that the tests have passed."""
        said = {"command": "pytest -q", "exit_status": 0, "revision_before": "r1", "revision_after": "r1"}
        return ToolOutput(Status.OK, "", said)

    turns = [asks_for(("claims", {})), *(says(f"done {n}") for n in range(4))]
    result = story(Bench(*turns, tools=[claims], contract=CHECK, workspace=Revision("r1")).run())

    assert (result.status, result.reason) == (RunStatus.FAILED, "verification_failed")


def test_a_tool_that_leaves_no_metadata_at_all_is_answered():
    @tool
    async def bare() -> ToolOutput:
        """Leave no metadata."""
        return ToolOutput(Status.OK, "fine", None)

    bench = Bench(asks_for(("bare", {})), says("ok"), tools=[bare])
    assert story(bench.run()).status is RunStatus.SUCCEEDED
    assert bench.answers()[0].text == "fine"


def test_a_run_is_not_resumed_under_another_table():
    async def tale():
        strict = Bench(DOWN, graph=table(at_verify=(*AT_VERIFY, Reviewed())))
        await strict.run()
        lax = Bench(says("done"), journal=strict.journal)
        with pytest.raises(ConfigError, match="another table"):
            await lax.resume()
        return lax

    assert story(tale()).provider.requests == []


def test_a_finished_session_begins_its_next_run_under_the_table_of_the_day():
    async def tale():
        before = Bench(says("one"))
        await before.run()
        return await Bench(says("two"), journal=before.journal, graph=table(at_verify=(Reviewed(),))).resume("again")

    assert story(tale()).reason == "not_reviewed"


def test_a_run_that_owes_checks_is_not_resumed_without_a_workspace():
    async def tale():
        before = Bench(DOWN, contract=CHECK, workspace=Revision())
        await before.run()
        with pytest.raises(ConfigError, match="give workspace="):
            await Bench(says("done"), journal=before.journal).resume()

    story(tale())


def test_an_answer_is_kept_when_a_gate_raises_and_is_not_paid_for_again():
    async def tale():
        bench = Bench(*(says(f"{n}") for n in range(3)), graph=table((Raises(),)), budget=Budget(max_turns=2))
        for attempt in (bench.run, bench.resume, bench.resume):
            with pytest.raises(GateError, match="gate 'raises' raised KeyError"):
                await attempt()
        return bench, await bench.history()

    bench, history = story(tale())
    assert (len(bench.provider.requests), history.turns) == (1, 1)


@pytest.mark.parametrize("posted", [False, True])
def test_a_move_that_was_due_comes_before_the_words_of_whoever_goes_on(posted):
    """The gate raised, so what it was asked about is committed and the move is not; then the gate is repaired."""

    class Moody(Gate):
        name = "moody"
        may = (Retry,)
        raises = True

        def judge(self, history):
            if self.raises:
                raise KeyError("x")
            return Pass()

    async def tale():
        gate = Moody()
        graph = table((inputs_answered, gate))
        bench = Bench(says("one"), says("two"), graph=graph)
        with pytest.raises(GateError):
            await bench.run()
        Moody.raises = False
        if posted:
            await bench.loop.steer("s", "and this")
        result = await (bench.resume() if posted else bench.resume("and this"))
        return result, audit(graph, await bench.journal.read("s"), "s"), bench.asked()

    result, findings, asked = story(tale())
    assert (result.succeeded, result.text, findings) == (True, "two", [])
    assert UserMessage("and this") in asked


def test_an_objection_without_words_for_the_model_gives_its_reason():
    """A request that ends in the model's own words asks for nothing."""
    bench = Bench(says("one"), says("two"), graph=table((Changelog(),)))
    story(bench.run())

    assert bench.asked()[-1] == UserMessage("the changelog is missing")


def test_a_provider_that_paused_gets_its_own_words_back_and_no_others():
    bench = Bench(says("one ", Finish.PAUSED), says("two"))
    story(bench.run())

    assert [type(message).__name__ for message in bench.asked()] == ["UserMessage", "AssistantMessage"]


def test_what_a_hook_answered_is_kept_when_words_come_in_while_it_runs():
    class Hook(Gate):
        name = "hook"
        may = (Fail,)
        ran = 0

        async def gather(self, history, outside):
            self.ran += 1
            if self.ran == 1:
                await bench.loop.steer("s", "one more thing")
            return (Evidence(("hook",), f"hook {self.ran}", 0, "", 0),)

        def judge(self, history):
            return Pass()

    async def tale():
        return await bench.run(), await bench.records(Evidence)

    hook = Hook()
    bench = Bench(says("one"), says("two"), graph=table(at_stop=(late_inputs_answered, hook)))
    result, answers = story(tale())
    assert (result.text, hook.ran) == ("two", 2)
    assert [answer.command for answer in answers] == ["hook 1", "hook 2"]


def test_a_gate_may_reach_for_the_outside_twice_at_once():
    class Slow(MemoryJournal):
        async def append(self, claim, drafts):
            await asyncio.sleep(0)  # gives way before anything is checked, as a store on disk does
            await super().append(claim, drafts)

    class Twice(Gate):
        name = "twice"
        may = (Fail,)

        async def gather(self, history, outside):
            await asyncio.gather(outside(), outside())
            return ()

        def judge(self, history):
            return Pass()

    result = story(Bench(says("ok"), journal=Slow(), graph=table(at_verify=(Twice(),))).run())
    assert result.status is RunStatus.SUCCEEDED


class Naps(SystemClock):
    def __init__(self):
        self.naps = []

    async def sleep(self, seconds):
        if seconds == LISTEN_SECONDS:
            await asyncio.Event().wait()
        self.naps.append(seconds)


def test_answers_that_break_off_are_asked_for_again_after_longer_and_longer_pauses():
    clock = Naps()
    cut = ProviderTrouble(Trouble.CUT, "cut")
    bench = Bench(cut, cut, cut, says("whole"), clock=clock)

    assert story(bench.run()).text == "whole"
    assert clock.naps == [0.5, 1.0, 2.0]
    assert [event.delay for event in bench.seen(ev.ProviderRetry)] == [0.5, 1.0, 2.0]


def test_run_sync_within_an_event_loop_says_what_to_do():
    async def tale():
        with pytest.raises(ConfigError, match=r"await loop\.run"):
            Bench(says("ok")).loop.run_sync("go")

    story(tale())


def test_an_unknown_permission_is_named_with_the_known_ones():
    with pytest.raises(ConfigError, match="unknown permission 'bogus'; known: full, ask, plan"):
        Bench(permission="bogus")


def test_a_word_where_a_list_belongs_is_refused():
    with pytest.raises(TypeError, match=r"not the text 'test'"):
        Contract(checks="test")


def test_a_session_that_was_taken_over_during_a_pause_is_not_asked_for_again():
    class TakenOver(Naps):
        async def sleep(self, seconds):
            if seconds != LISTEN_SECONDS:
                bench.journal.crash()
                await bench.journal.claim("s")
            await super().sleep(seconds)

    bench = Bench(ProviderTrouble(Trouble.CUT, "cut"), says("not for you"), clock=TakenOver())

    with pytest.raises(Fenced):
        story(bench.run())
    assert len(bench.provider.requests) == 1
