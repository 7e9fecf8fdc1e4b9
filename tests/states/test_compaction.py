"""Compaction: the model's window is watched, a ledger stands for what came first, and nothing that binds is lost."""

import re

import pytest
from support.bench import Bench, story
from support.past import Past

from fsm import events, tool
from fsm.audit import audit
from fsm.checks.claims import unpaired
from fsm.graph import GRAPH
from fsm.providers import Scripted
from fsm.providers.scripted import says
from fsm.providers.windows import WINDOWS, usable_by
from gates.window_left import HINT
from states.context import due, estimate, plan, tokens_of, usable
from states.contract import Contract, Permission
from states.errors import CompactionFailed, ConfigError, HistoryError
from states.fold import fold
from states.ledger import CHANGED, HEADINGS, INPUTS, INSTRUCTION, LATEST, missing, note, outline
from states.messages import AssistantMessage, Call, Finish, Text, ToolMessage, Usage, UserMessage
from states.plan import REMINDER
from states.ports import ProviderTrouble, Reply
from states.records import (
    Cause,
    Compaction,
    CompactionFailure,
    How,
    RunStarted,
    ToolResult,
    Trouble,
    TurnFailure,
    UserInput,
)
from states.shorten import shortened

LEDGER = "\n".join(f"## {heading}\nsomething about it" for heading in HEADINGS)
TOO_LONG = ProviderTrouble(Trouble.OVERFLOW, "HTTP 400: prompt is too long", 400)
WINDOW = 40_000
"""Of which 31,808 are usable."""


def asks(name="look", text="", used=0, times=1):
    arguments = '{"what":"x"}' if name == "write" else '{"key":"x"}'
    blocks = (*((Text(text),) if text else ()), *[Call("", name, arguments)] * times)
    return Reply(blocks, Finish.CALLS, Usage(used, 10), "m")


def is_for_a_ledger(request):
    last = request.messages[-1]
    return isinstance(last, UserMessage) and last.text.endswith(INSTRUCTION)


class Model(Scripted):
    """Answers requests for a ledger from a list of its own."""

    def __init__(self, turns, ledgers=()):
        super().__init__(turns)
        self.ledgers = list(ledgers)
        self.asked_for_ledgers = []
        self.tools_for_ledgers = []

    async def stream(self, request):
        if not is_for_a_ledger(request):
            async for item in super().stream(request):
                yield item
            return
        self.asked_for_ledgers.append(list(request.messages))
        self.tools_for_ledgers.append(len(request.tools))
        answer = self.ledgers.pop(0)
        if isinstance(answer, ProviderTrouble):
            raise answer
        yield answer


def ledger(text=LEDGER, **more):
    return Reply((Text(text),), **({"finish": Finish.STOP, "usage": Usage(100, 50), "model": "m"} | more))


def long_run(turns, used, ledgers=(), **options):
    """`turns` tool turns with much to read in each, the last of which is said to fill `used` tokens, then an answer."""
    script = [asks(text="words " * 1200, used=1000) for _ in range(turns - 1)]
    return Bench(provider=Model([*script, asks(used=used), says("done")], ledgers), window=WINDOW, **options)


# --- when -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "left"), [(8192, 6144), (40_000, 31_808), (200_000, 180_000), (1_000_000, 967_232)]
)
def test_room_for_the_answer_is_left(context, left):
    assert usable(context) == left


def test_known_windows_have_a_date_and_unknown_ones_are_not_guessed():
    assert all(window.as_of and window.source for window in WINDOWS.values())
    assert usable_by(["gpt-5-2025-08-07"]) == 272_000
    assert usable_by(["claude-sonnet-4-5", "gpt-4o"]) == usable(128_000)
    assert usable_by(["my-own-model"]) is None


def test_at_eighty_per_cent_a_ledger_takes_the_place_of_what_came_first():
    async def tale():
        bench = long_run(4, 25_600, [ledger()])
        result = await bench.run()
        (made,) = await bench.records(Compaction)
        history = await bench.history()
        assert (result.text, made.cause, made.how, made.model) == ("done", Cause.THRESHOLD, How.LEDGER, "m")
        assert made.before > 25_000 > made.after
        assert result.usage.total == 3 * 1010 + 25_610 + 150 + result_of_last()
        last = bench.asked()
        assert isinstance(last[0], UserMessage)
        assert LEDGER in last[0].text
        assert "1. go" in last[0].text
        assert unpaired(last) is None
        assert history.compactions == 1
        assert audit(GRAPH, await bench.journal.read("s"), "s") == []
        assert [event.cause for event in bench.seen(events.Compacting)] == [Cause.THRESHOLD]
        (told,) = bench.seen(events.Compacted)
        assert (told.before, told.after, told.seq > 0) == (made.before, made.after, True)

    def result_of_last():
        return says("done").usage.total

    story(tale())


@pytest.mark.parametrize("used", [23_000, 100])
def test_below_that_nothing_is_compacted(used):
    bench = long_run(4, used)
    assert story(bench.run()).text == "done"
    assert bench.provider.asked_for_ledgers == []


def test_without_a_known_window_nothing_is_compacted_unasked():
    model = Model([asks(used=10_000_000), says("done")])
    assert story(Bench(provider=model).run()).text == "done"
    assert model.asked_for_ledgers == []


def test_the_model_is_told_once_at_seventy_per_cent_and_again_after_a_compaction():
    async def tale():
        full = [asks(text="words " * 1200, used=used) for used in (1000, 1000, 22_400, 22_600, 25_900, 22_400, 22_600)]
        bench = Bench(provider=Model([*full, says("done")], [ledger()]), window=WINDOW)
        await bench.run()
        hints = [message.text for message in bench.asked() if isinstance(message, UserMessage)].count(HINT)
        told = [entry for entry in await bench.journal.read("s") if getattr(entry.record, "gate", "") == "window_left"]
        assert len([entry for entry in told if entry.record.ruling.hint]) == 2
        assert hints >= 1
        assert len(bench.provider.asked_for_ledgers) == 1

    story(tale())


def test_before_the_first_count_the_window_is_filled_by_estimate():
    past = Past()
    past.history.window = 1000
    assert tokens_of(past.history) == estimate(past.history.messages) < 50
    past.says("x" * 4000, usage=Usage(0, 0))
    assert tokens_of(past.history) > 1000


def test_what_has_come_since_the_count_is_added_by_estimate():
    past = Past().calls("a").move().intents().move()
    counted = past.history.counted
    past.result("call_1_0", output="x" * 4000)
    assert counted == 15
    assert 1000 < tokens_of(past.history) - counted < 1020


def test_old_output_is_shortened_first_and_no_model_is_asked_where_that_is_enough():
    async def tale():
        reads = [
            asks("read", used=1000, times=5),
            *(asks(used=1000) for _ in range(3)),
            asks(used=25_900),
            says("done"),
        ]

        @tool(read_only=True)
        def read(key: str) -> str:
            """Read much."""
            return "line\n" * 18_000

        bench = Bench(provider=Model(reads), tools=[read], window=WINDOW)
        result = await bench.run()
        made = await bench.records(Compaction)
        assert result.text == "done"
        assert [(one.how, one.dropped) for one in made][:1] == [(How.TRIMMED, 0)]
        assert bench.provider.asked_for_ledgers == []
        answer = next(message for message in bench.answers() if message.name == "read")
        assert len(answer.text) < 1100
        assert "characters are left out here" in answer.text
        (whole,) = [result for result in await bench.records(ToolResult) if result.call == "call_1_0"]
        assert len(whole.output) > 10_000  # the journal keeps it

    story(tale())


def test_a_last_result_that_would_not_fit_is_shortened_before_it_is_sent():
    async def tale():
        @tool(read_only=True)
        def read(key: str) -> str:
            """Read much."""
            return "line\n" * 18_000

        bench = Bench(provider=Model([asks("read"), says("done")]), tools=[read], window=10_000)
        result = await bench.run()
        (made,) = await bench.records(Compaction)
        assert (result.text, made.cause, made.how) == ("done", Cause.THRESHOLD, How.TRIMMED)
        assert len(bench.answers()[0].text) < 4100
        assert audit(GRAPH, await bench.journal.read("s"), "s") == []

    story(tale())


def test_a_large_prompt_does_not_bring_a_ledger_at_every_turn():
    """What every request holds takes most of the window: compacting the little that is left gains nothing."""
    past = Past()
    past.history.window = 100_000
    past.says("first", usage=Usage(79_000, 10))
    assert past.history.beside == 79_010 - estimate(past.history.messages)
    grown = past_of(4, 6000)
    grown.history.window, grown.history.beside = 100_000, 79_000
    grown.history.counted, grown.history.counted_to = 85_000, len(grown.history.messages)
    assert tokens_of(grown.history) > 80_000
    assert due(grown.history) is None
    grown.history.beside = 0
    assert due(grown.history) is Cause.THRESHOLD


# --- what ------------------------------------------------------------------------------------------------------------


def past_of(turns=6, words=6000):
    past = Past(task="Fix the bug; never touch the API.")
    for _ in range(turns):
        number = past.history.turn_count + 1
        past.turn(Text("w" * words), Call(f"call_{number}_0", "bash", f'{{"n":{number}}}'))
        past.move().intents().move()
        (state,) = past.history.open_calls()
        past.result(state.call.id, output=f"ok {number}").settle().move()
    return past


@pytest.mark.parametrize("turns", range(1, 9))
@pytest.mark.parametrize("cause", list(Cause))
@pytest.mark.parametrize("window", [None, 10_000, 200_000])
def test_no_call_is_parted_from_its_result_and_the_last_turn_stays(turns, cause, window):
    past = past_of(turns)
    past.history.window = window
    wanted = plan(past.history, cause)
    if wanted is None or not wanted.cut:
        return
    kept = past.history.messages[wanted.cut :]
    assert unpaired(kept) is None
    assert unpaired(past.history.messages[: wanted.cut]) is None
    assert any(isinstance(message, AssistantMessage) for message in kept)
    assert any(isinstance(message, ToolMessage) for message in kept)


def test_the_kept_tail_is_a_fifth_of_the_window_in_whole_turns():
    past = past_of(14)
    past.history.window = 40_000
    wanted = plan(past.history, Cause.THRESHOLD)
    kept = estimate(past.history.messages[wanted.cut :])
    assert 4000 < kept <= 8000


def test_what_binds_is_said_word_for_word():
    past = past_of(2).add(UserInput("And mind the tests."))
    past.history.contract = Contract(checks=("test",), commands=("make ci",))
    said = note(past.history, LEDGER)
    assert "1. Fix the bug; never touch the API.\n2. And mind the tests." in said
    assert "a passing test, `make ci` on the final workspace" in said


def test_what_was_changed_and_the_rules_of_planning_are_said_too():
    past = past_of(2)
    assert REMINDER not in note(past.history, LEDGER)
    past.history.permission = Permission.PLAN
    past.history.context = "<runtime-context>here</runtime-context>"
    past.history.changed = {f"file{number}.py": None for number in range(CHANGED + 2)}
    said = note(past.history, LEDGER)
    assert REMINDER in said
    assert past.history.context in said  # it is told again only when it changes
    assert "file0.py" not in said
    assert f"file{CHANGED + 1}.py and 2 others." in said


def test_long_and_many_inputs_are_bounded_and_the_first_and_the_last_stay():
    past = Past(task="first " + "x" * 10_000)
    for number in range(20):
        past.add(UserInput(f"input {number} " + "y" * 3000))
    said = note(past.history, LEDGER)
    assert len(said) < INPUTS + LATEST
    assert "1. first" in said
    assert "21. input 19" in said
    assert "inputs between them are left out" in said


def test_an_outline_names_what_was_done_and_is_bounded():
    text = outline(past_of(60, 10).history.messages)
    assert '- called bash {"n":60}' in text
    assert "  - bash answered: ok 60" in text
    assert len(text) < 45 * 170
    assert "earlier steps are left out" in text


def test_text_is_shortened_only_where_that_gains_something():
    assert shortened("x" * 1020, 1000) == "x" * 1020
    short = shortened("a" * 5000 + "z" * 5000, 900)
    assert short.startswith("a" * 600 + "\n[… 9100 characters")
    assert short.endswith("]\n" + "z" * 300)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (Compaction(Cause.ASKED, How.LEDGER, 2, "x"), "parts a call from its result"),
        (Compaction(Cause.ASKED, How.LEDGER, 99, "x"), "99 of 14 messages"),
        (Compaction(Cause.ASKED, How.LEDGER, 3, ""), "stands for nothing, or lacks"),
        (Compaction(Cause.ASKED, How.TRIMMED, 0, "x"), "stands for nothing, or lacks"),
    ],
)
def test_a_compaction_that_cannot_be_is_refused(record, why):
    with pytest.raises(HistoryError, match=why):
        past_of().add(record)


def test_a_compaction_in_the_middle_of_tools_is_refused():
    past = past_of().calls("a").move()
    with pytest.raises(HistoryError, match="a compaction in dispatch_tools"):
        past.add(Compaction(Cause.ASKED, How.LEDGER, 3, "x"))


# --- failing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([ProviderTrouble(Trouble.REFUSED, "HTTP 400: no")], "HTTP 400: no"),
        ([ProviderTrouble(Trouble.CUT, "the stream ended")], "the stream ended"),
        ([asks(), asks()], "called a tool"),
        ([asks(), ProviderTrouble(Trouble.DOWN, "busy")], "busy"),
        ([ledger(finish=Finish.LENGTH, finish_detail="max_tokens")], r"not whole \(max_tokens\)"),
        ([ledger("## Goal\nall of it")], "lacks the heading 'Rules and decisions'"),
        ([ledger(LEDGER + "x" * 200_000)], "longer than what it stands for"),
    ],
)
def test_without_a_ledger_the_conversation_stays_as_it_is(answers, why):
    async def tale():
        bench = long_run(4, 25_600, answers)
        result = await bench.run()
        (failure,) = await bench.records(CompactionFailure)
        assert result.text == "done"
        assert failure.usage == sum((one.usage for one in answers if isinstance(one, Reply)), Usage())
        assert re.search(why, failure.message)
        assert await bench.records(Compaction) == []
        assert bench.asked()[0] == UserMessage("go")

    story(tale())


def test_a_model_that_calls_a_tool_is_asked_again_without_any():
    async def tale():
        bench = long_run(4, 25_600, [asks(used=200), ledger()])
        await bench.run()
        (made,) = await bench.records(Compaction)
        (without,) = bench.provider.asked_for_ledgers[1]
        assert (made.how, made.usage) == (How.LEDGER, Usage(300, 60))
        assert bench.provider.tools_for_ledgers[1] == 0 < bench.provider.tools_for_ledgers[0]
        assert '[you called look] {"key":"x"}' in without.text
        assert "[user] go" in without.text
        assert await bench.records(CompactionFailure) == []

    story(tale())


def test_the_third_failure_in_a_row_makes_an_outline():
    async def tale():
        full = [asks(text="words " * 1200, used=used) for used in (1000, 25_900, 25_900, 25_900, 1000)]
        bench = Bench(provider=Model([*full, says("done")], [ledger("no")] * 3), window=WINDOW)
        result = await bench.run()
        (made,) = await bench.records(Compaction)
        assert (result.text, made.how) == ("done", How.OUTLINE)
        assert len(await bench.records(CompactionFailure)) == 3
        assert "- called look" in made.summary

    story(tale())


def test_a_provider_that_is_down_is_the_turns_trouble():
    async def tale():
        bench = long_run(4, 25_600, [ProviderTrouble(Trouble.DOWN, "busy"), ledger()])
        result = await bench.run()
        assert (result.reason, await bench.records(Compaction)) == ("provider", [])
        assert await bench.records(CompactionFailure) == []
        result = await bench.resume()
        assert result.text == "done"
        assert len(await bench.records(Compaction)) == 1

    story(tale())


# --- a request that does not fit ------------------------------------------------------------------------------------


def overflowing(turns, ledgers=(), **options):
    return Bench(provider=Model([asks(text="words " * 1200), asks(text="words " * 1200), *turns], ledgers), **options)


def test_a_request_that_does_not_fit_is_compacted_and_sent_once_more():
    async def tale():
        bench = overflowing([TOO_LONG, says("done")], [ledger()])
        result = await bench.run()
        (made,) = await bench.records(Compaction)
        assert (result.text, made.cause, made.how) == ("done", Cause.OVERFLOW, How.LEDGER)
        (shown,) = bench.provider.asked_for_ledgers
        assert estimate(shown[:-1]) <= made.before // 2 + 50
        assert estimate(bench.asked()) < estimate(bench.asked(2))
        assert audit(GRAPH, await bench.journal.read("s"), "s") == []

    story(tale())


def test_the_second_time_the_run_fails_and_says_so():
    async def tale():
        bench = overflowing([TOO_LONG, TOO_LONG], [ledger()])
        result = await bench.run()
        assert (result.status, result.reason) == ("failed", "context_overflow")
        assert "after compaction, too" in result.message
        assert len(await bench.records(Compaction)) == 1

    story(tale())


def test_a_good_turn_makes_room_for_another_replay():
    async def tale():
        more = [asks(text="words " * 1200), asks(text="words " * 1200)]
        bench = overflowing([TOO_LONG, *more, TOO_LONG, says("done")], [ledger(), ledger()])
        result = await bench.run()
        assert (result.text, len(await bench.records(Compaction))) == ("done", 2)

    story(tale())


def test_where_no_ledger_can_be_had_an_outline_is_sent():
    async def tale():
        bench = overflowing([TOO_LONG, says("done")], [TOO_LONG])
        result = await bench.run()
        (made,) = await bench.records(Compaction)
        assert (result.text, made.how) == ("done", How.OUTLINE)

    story(tale())


def test_a_task_that_is_too_long_by_itself_fails_at_once():
    bench = Bench(provider=Model([TOO_LONG]))
    result = story(bench.run("x" * 100))
    assert (result.reason, bench.provider.asked_for_ledgers) == ("context_overflow", [])
    assert "nothing to compact" in result.message


def test_the_first_result_that_fills_the_window_is_shortened():
    async def tale():
        @tool(read_only=True)
        def read(key: str) -> str:
            """Read much."""
            return "line\n" * 18_000

        bench = Bench(provider=Model([asks("read"), TOO_LONG, says("done")]), tools=[read])
        result = await bench.run()
        (made,) = await bench.records(Compaction)
        assert (result.text, made.how, made.trimmed) == ("done", How.TRIMMED, ("call_1_0",))
        assert len(bench.answers()[0].text) < 4100

    story(tale())


def test_a_process_that_was_lost_before_the_ledger_asks_for_it_again():
    """The committed overflow is what calls for it."""
    past = past_of(3)
    past.add(TurnFailure(Trouble.OVERFLOW, "too long")).move()
    again = fold("s", past.entries)
    assert (again.state, due(again), again.overflows) == ("provider_turn", Cause.OVERFLOW, 1)


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_a_session_at_rest_is_compacted_by_hand_and_goes_on():
    async def tale():
        turns = [asks(text="words " * 1200), asks(), says("done"), says("more")]
        bench = Bench(provider=Model(turns, [ledger()]))
        await bench.run()
        made = await bench.loop.compact("s", on_event=bench.events.append)
        assert (made.cause, made.how, made.dropped > 0) == (Cause.ASKED, How.LEDGER, True)
        before = await bench.history()
        assert (before.state, before.messages[0].text.count(LEDGER)) == ("succeeded", 1)
        result = await bench.resume("and now?")
        assert (result.text, audit(GRAPH, await bench.journal.read("s"), "s")) == ("more", [])
        assert bench.asked()[0] == before.messages[0]

    story(tale())


def test_a_call_that_waits_for_an_approval_stays():
    async def tale():
        turns = [asks(), asks(text="words " * 1200), asks("write"), says("done")]
        bench = Bench(provider=Model(turns, [ledger()]), permission="ask")
        result = await bench.run()
        made = await bench.loop.compact("s")
        assert (result.reason, made.dropped > 0) == ("approval", True)
        result = await bench.resume(approve=["call_3_0"])
        assert (result.text, len(bench.ledger.effects)) == ("done", 1)
        assert unpaired(bench.asked()) is None
        assert audit(GRAPH, await bench.journal.read("s"), "s") == []

    story(tale())


def test_nothing_to_compact_is_said_and_a_failure_leaves_all_as_it_was():
    async def tale():
        bench = Bench(provider=Model([says("done")]))
        await bench.run()
        assert await bench.loop.compact("s") is None
        other = Bench(provider=Model([asks(text="words " * 1200), asks(), says("done")], [ledger("no")]))
        await other.run()
        before = (await other.history()).messages
        with pytest.raises(CompactionFailed, match="lacks the heading"):
            await other.loop.compact("s")
        assert (await other.history()).messages == before

    story(tale())


@pytest.mark.parametrize("window", [0, -1, 100])
def test_a_window_that_holds_nothing_is_refused(window):
    with pytest.raises(ConfigError, match="is too small"):
        Bench(says("x"), window=window)


def test_the_window_is_on_record():
    async def tale():
        bench = Bench(says("x"), window=200_000)
        await bench.run()
        (started,) = await bench.records(RunStarted)
        return started.window

    assert story(tale()) == 180_000
    assert missing(LEDGER) == []
