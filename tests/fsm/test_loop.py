"""The loop on a journal in memory: what a caller sees, and what is durable when."""

import asyncio

import pytest
from support.bench import Bench
from support.boxes import Revision

from fsm import (
    Budget,
    Contract,
    Fail,
    Gate,
    Injected,
    Loop,
    Pass,
    RunStatus,
    ToolContext,
    default_graph,
    tool,
)
from fsm import events as ev
from fsm.journal.memory import Fault, MemoryJournal
from fsm.providers.scripted import Scripted, asks_for, says
from fsm.tools import Tools
from states.errors import ConfigError, SessionBusy, UnknownSession
from states.fold import fold
from states.messages import AssistantMessage, ToolMessage, UserMessage
from states.names import State
from states.ports import ProviderTrouble
from states.records import AssistantTurn, Finalized, Source, Status, ToolIntent, ToolResult, Trouble, UserInput


def test_a_run_goes_through_its_tools_to_a_receipt():
    bench = Bench(asks_for(("look", {"key": "a"}), ("look", {"key": "b"})), says("both seen"))
    result = asyncio.run(bench.run())

    assert result.status is RunStatus.SUCCEEDED
    assert (result.reason, result.text, result.turns, result.tool_calls) == ("finished", "both seen", 2, 2)
    assert result.receipt is not None
    assert result.usage.total == 30


def test_every_durable_event_is_in_the_journal_when_it_is_shown():
    async def story():
        journal = MemoryJournal()
        bench = Bench(asks_for(("look", {})), says("ok"), journal=journal)
        missing = []

        def check(event):
            bench.events.append(event)
            if event.seq is not None and event.seq > len(journal._sessions["s"].rows):
                missing.append(event)

        await bench.loop.run("go", session="s", on_event=check)
        return bench, missing

    bench, missing = asyncio.run(story())
    assert missing == []
    assert len(bench.seen(ev.StreamEnd)) == 2
    assert [type(event) for event in bench.events].count(ev.RunEnd) == 1
    assert isinstance(bench.events[-1], ev.RunEnd)


def test_a_tool_turn_costs_two_commits():
    async def story():
        commits = []
        journal = MemoryJournal(after=lambda claim, drafts: commits.append([d.kind for d in drafts]))
        bench = Bench(*[asks_for(("write", {"what": str(n)})) for n in range(5)], says("ok"), journal=journal)
        await bench.run()
        return commits

    commits = asyncio.run(story())
    with_tools = [kinds for kinds in commits if "tool_intent" in kinds or "tool_result" in kinds]
    assert len(with_tools) == 2 * 5
    assert all(("tool_intent" in kinds) != ("tool_result" in kinds) for kinds in with_tools)


def test_a_turn_adds_to_the_journal_what_is_new_and_no_more():
    """Bytes per turn are the same for the last turns of a run as for the first ones."""

    async def story():
        bench = Bench(*[asks_for(("look", {"key": f"{n:04}"})) for n in range(60)], says("ok"))
        await bench.run()
        sizes = {}
        turn = 0
        for _, _, kind, _, body, _ in bench.journal._sessions["s"].rows:
            turn += kind == "assistant_turn"
            sizes[turn] = sizes.get(turn, 0) + len(body)
        return sizes

    sizes = asyncio.run(story())
    early, late = sum(sizes[turn] for turn in range(10, 20)), sum(sizes[turn] for turn in range(50, 60))
    assert late < 1.1 * early


def test_an_intent_is_durable_before_its_tool_starts():
    async def story():
        bench = Bench(asks_for(("write", {"what": "x"})), says("ok"))
        await bench.run()
        intents = [e.seq for e in await bench.journal.read("s") if isinstance(e.record, ToolIntent)]
        return bench.ledger.effects, intents

    effects, intents = asyncio.run(story())
    assert effects == [(f"s:{intents[0]}", "x")]


@pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.LOST, Fault.KEPT])
def test_a_failed_intent_commit_starts_no_tool_and_stops_the_run(fault):
    bench = Bench(asks_for(("write", {"what": "x"})), says("ok"), faults=[Fault.NONE, fault])
    result = asyncio.run(bench.run())

    assert bench.ledger.effects == []
    assert (result.status, result.reason) == (RunStatus.FAILED, "tool_persistence_failed")
    assert bench.events[-1].seq is None


@pytest.mark.parametrize(("fault", "runs"), [(Fault.LOST, 1), (Fault.KEPT, 1)])
def test_after_a_commit_of_unknown_outcome_the_journal_decides(fault, runs):
    """The result of a started call: kept, it is used; lost, the call is unknown. It never runs again."""

    async def story():
        bench = Bench(asks_for(("write", {"what": "x"})), says("ok"), faults=[Fault.NONE, Fault.NONE, fault])
        first = await bench.run()
        bench.journal.crash()
        second = await bench.resume()
        return bench, first, second, await bench.records(ToolResult)

    bench, first, second, results = asyncio.run(story())
    assert (first.reason, second.status) == ("tool_persistence_failed", RunStatus.SUCCEEDED)
    assert len(bench.ledger.effects) == runs
    assert results[0].status is (Status.OK if fault is Fault.KEPT else Status.UNKNOWN)


def test_a_final_answer_that_is_not_durable_is_not_success():
    async def story():
        bench = Bench(says("ok"), says("ok again"), faults=[Fault.NONE, Fault.LOST])
        first = await bench.run()
        bench.journal.crash()
        return first, fold("s", await bench.journal.read("s")).state, await bench.resume()

    first, state, second = asyncio.run(story())
    assert (first.status, first.reason) == (RunStatus.FAILED, "message_persistence_failed")
    assert state is State.PROVIDER_TURN
    assert second.text == "ok again"


def test_a_store_that_lied_loses_the_run_but_never_success():
    async def story():
        bench = Bench(says("one"), says("two"), faults=[Fault.NONE, *[Fault.UNSYNCED] * 9])
        first = await bench.run()
        bench.journal.crash()
        return first, await bench.resume()

    first, second = asyncio.run(story())
    assert (first.text, second.text) == ("one", "two")


def test_each_call_gets_its_own_true_answer():
    bench = Bench(
        asks_for(("nope", {}), ("look", "{broken"), ("look", {"wrong": 1}), ("explode", {}), ("look", {"key": "k"})),
        says("ok"),
    )
    asyncio.run(bench.run())

    answers = [m for m in bench.asked() if isinstance(m, ToolMessage)]
    assert [a.call_id for a in answers] == [f"call_1_{n}" for n in range(5)]
    assert "no tool 'nope'" in answers[0].text
    assert "no JSON" in answers[1].text
    assert "wrong" in answers[2].text
    assert "boom" in answers[3].text
    assert answers[4].text == "seen k"
    assert [a.failed for a in answers] == [True, True, True, True, False]


def test_results_are_committed_as_they_land_and_sent_in_the_models_order():
    async def story():
        bench = Bench(asks_for(("look", {"key": "slow", "seconds": 0.05}), ("look", {"key": "fast"})), says("ok"))
        await bench.run()
        return bench, await bench.records(ToolResult)

    bench, results = asyncio.run(story())
    assert [r.output for r in results] == ["seen fast", "seen slow"]
    assert [m.text for m in bench.asked() if isinstance(m, ToolMessage)] == ["seen slow", "seen fast"]


def test_beyond_64_calls_each_is_answered_with_an_error():
    bench = Bench(asks_for(*[("look", {"key": str(n)}) for n in range(65)]), says("ok"))
    asyncio.run(bench.run())

    answers = [m for m in bench.asked() if isinstance(m, ToolMessage)]
    assert len(answers) == 65
    assert [a.failed for a in answers].count(True) == 1
    assert answers[-1].failed


def test_steering_during_the_last_turn_reaches_the_model_before_success():
    async def story():
        bench = Bench()

        def late(request):
            asyncio.get_running_loop().create_task(bench.loop.steer("s", "and also this"))
            return says("first")

        bench.provider._turns = [late, says("second")]
        return bench, await bench.run(), await bench.records(UserInput)

    bench, result, inputs = asyncio.run(story())
    assert result.text == "second"
    assert bench.asked()[-1] == UserMessage("and also this")
    assert inputs[-1].source is Source.STEERING


def test_an_input_that_slips_in_before_the_seal_undoes_nothing_but_the_seal():
    """The store refuses the sealed batch; the model's answer was durable before, and is kept."""

    async def story():
        journal = MemoryJournal()
        journal._rows = _racing(journal, [])
        bench = Bench(says("first"), says("second"), journal=journal)
        return bench, await bench.run(), await bench.records(AssistantTurn)

    bench, result, turns = asyncio.run(story())
    assert result.text == "second"
    assert len(turns) == 2
    assert bench.asked()[-2:] == [AssistantMessage(turns[0].blocks), UserMessage("very late")]


def _racing(journal, slipped):
    """Posts a note at the last moment before a sealing batch is checked."""
    from states.ports import Note

    rows = journal._rows

    def racing(state, claim, drafts):
        if any(d.seals is not None for d in drafts) and not slipped:
            slipped.append(True)
            journal._notes.append(Note(len(journal._notes) + 1, "s", "very late", 0.0))
        return rows(state, claim, drafts)

    return racing


def test_an_input_after_the_end_starts_the_next_run():
    async def story():
        bench = Bench(says("first"), says("second"))
        await bench.run()
        await bench.loop.steer("s", "one more thing")
        return bench, await bench.resume()

    bench, result = asyncio.run(story())
    assert result.text == "second"
    assert bench.asked()[-1] == UserMessage("one more thing")


def test_a_finished_run_is_delivered_again_and_not_asked_again():
    async def story():
        bench = Bench(says("the answer"))
        first = await bench.run()
        return bench, first, await bench.resume()

    bench, first, second = asyncio.run(story())
    assert first == second
    assert len(bench.provider.requests) == 1


def test_a_message_to_a_finished_session_starts_another_run():
    async def story():
        bench = Bench(says("one"), says("two"))
        await bench.run()
        return bench, await bench.resume("and now?")

    bench, result = asyncio.run(story())
    assert (result.text, result.turns) == ("two", 1)
    assert len(bench.asked()) == 3


def test_cancelling_during_a_tool_answers_every_call_truly_and_rests():
    async def story():
        bench = Bench(asks_for(("write", {"what": "x"}), ("hang", {}), ("write", {"what": "y"})), says("ok"))
        run = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        assert await bench.loop.cancel("s", "enough")
        first = await run
        second = await bench.resume("go on")
        return bench, first, second

    bench, first, second = asyncio.run(story())
    assert (first.status, first.reason) == (RunStatus.SUSPENDED, "resume")
    assert "enough" in first.message
    assert second.status is RunStatus.SUCCEEDED
    answers = [m.text for m in bench.asked() if isinstance(m, ToolMessage)]
    assert answers[0] == "wrote x"
    assert "stopped after it had started" in answers[1]
    assert "never started" in answers[2]
    assert [what for _, what in bench.ledger.effects] == ["x", ""]


def test_a_cancelled_caller_leaves_a_run_that_rests():
    async def story():
        bench = Bench(asks_for(("hang", {})), says("ok"))
        run = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return fold("s", await bench.journal.read("s")), await bench.resume()

    history, second = asyncio.run(story())
    assert history.state is State.SUSPENDED
    assert second.status is RunStatus.SUCCEEDED


def test_whoever_stops_reading_the_stream_suspends_the_run():
    async def story():
        bench = Bench(asks_for(("hang", {})), says("ok"))
        stream = bench.loop.stream("go", session="s")
        async for event in stream:
            if isinstance(event, ev.ToolStart):
                break
        await stream.aclose()
        return fold("s", await bench.journal.read("s"))

    assert asyncio.run(story()).state is State.SUSPENDED


def test_a_cancellation_by_another_loop_reaches_the_running_one():
    async def story():
        bench = Bench(asks_for(("hang", {})))
        other = Bench(journal=bench.journal)
        run = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        assert await other.loop.cancel("s")
        return await run

    assert asyncio.run(story()).reason == "resume"


def test_a_cancellation_meant_for_an_earlier_run_does_not_stop_the_next():
    async def story():
        bench = Bench(says("one"), says("two"))
        await bench.run()
        await bench.journal.post("s", None)
        return await bench.resume("again")

    assert asyncio.run(story()).text == "two"


def test_a_session_is_run_by_one_loop_at_a_time():
    async def story():
        bench = Bench(asks_for(("hang", {})))
        run = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        with pytest.raises(SessionBusy, match="'s'"):
            await bench.loop.resume("s", "me too")
        await bench.loop.cancel("s")
        await run

    asyncio.run(story())


def test_a_crash_during_a_tool_is_told_to_the_model_and_nothing_runs_again():
    async def story():
        bench = Bench(asks_for(("look", {"key": "a"}), ("hang", {}), ("look", {"key": "b"})), says("ok"))
        run = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        bench.journal.crash()  # the process is gone; nobody hears of the old task again
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        bench.journal.crash()
        result = await bench.resume()
        return bench, result

    bench, result = asyncio.run(story())
    assert result.status is RunStatus.SUCCEEDED
    assert [effect for effect, _ in bench.ledger.effects] == ["hang"]
    answers = [m.text for m in bench.asked() if isinstance(m, ToolMessage)]
    assert answers[0] == "seen a"
    assert "may have happened" in answers[1]
    assert answers[2] == "seen b"


def test_approvals_are_asked_for_given_and_refused():
    async def story():
        turns = [asks_for(("look", {"key": "k"}), ("write", {"what": "x"}), ("write", {"what": "y"})), says("ok")]
        bench = Bench(*turns, permission="ask")
        first = await bench.run()
        half = await bench.resume(approve=["call_1_1"])
        last = await bench.resume(deny=["call_1_2"], reason="not y")
        return bench, first, half, last

    bench, first, half, last = asyncio.run(story())
    assert first.reason == half.reason == "approval"
    assert "call_1_1" in first.message
    assert "call_1_1" not in half.message
    assert last.status is RunStatus.SUCCEEDED
    assert [what for _, what in bench.ledger.effects] == ["x"]
    answers = [m.text for m in bench.asked() if isinstance(m, ToolMessage)]
    assert answers[:2] == ["seen k", "wrote x"]
    assert "not y" in answers[2]


def test_an_approval_of_something_that_does_not_wait_is_refused_by_name():
    async def story():
        bench = Bench(asks_for(("write", {"what": "x"})), says("ok"), permission="ask")
        await bench.run()
        with pytest.raises(ConfigError, match="waiting: call_1_0"):
            await bench.resume(approve=["call_9_9"])

    asyncio.run(story())


def test_planning_runs_only_what_changes_nothing():
    bench = Bench(asks_for(("look", {"key": "k"}), ("write", {"what": "x"})), says("a plan"), permission="plan")
    asyncio.run(bench.run())

    assert bench.ledger.effects == []
    assert [m.failed for m in bench.asked() if isinstance(m, ToolMessage)] == [False, True]


def test_out_of_budget_rests_and_a_larger_budget_goes_on_where_it_stopped():
    async def story():
        bench = Bench(asks_for(("write", {"what": "x"})), says("ok"), budget=Budget(max_turns=1))
        first = await bench.run()
        again = await bench.resume()
        last = await bench.resume(budget=Budget(max_turns=2))
        return bench, first, again, last

    bench, first, again, last = asyncio.run(story())
    assert first.reason == again.reason == "budget"
    assert last.status is RunStatus.SUCCEEDED
    assert [what for _, what in bench.ledger.effects] == ["x"]


def test_a_provider_that_is_down_suspends_and_a_resume_asks_again():
    async def story():
        bench = Bench(ProviderTrouble(Trouble.DOWN, "overloaded", 529), says("back"))
        return await bench.run(), await bench.resume()

    first, second = asyncio.run(story())
    assert (first.status, first.reason, first.message) == (RunStatus.SUSPENDED, "provider", "overloaded")
    assert second.text == "back"


@pytest.mark.parametrize("place", ["candidate_final", "verify", "stop_hook"])
@pytest.mark.parametrize("trouble", [Trouble.DOWN, Trouble.REFUSED])
def test_no_completion_gate_is_asked_about_a_turn_that_failed(place, trouble):
    asked = []

    class Nosy(Gate):
        name = "nosy"
        may = (Fail,)

        async def gather(self, history, outside):
            asked.append("for evidence")
            return ()

        def judge(self, history):
            asked.append("for a verdict")
            return Pass()

    async def story():
        graph = default_graph().with_gate(Nosy(), place)
        bench = Bench(ProviderTrouble(trouble, "no"), says("ok"), graph=graph)
        await bench.run()
        before = list(asked)
        if trouble is Trouble.DOWN:
            await bench.resume()
        return before

    assert asyncio.run(story()) == []
    assert bool(asked) == (trouble is Trouble.DOWN)  # it is asked about a turn that did not fail


def test_a_refusal_by_the_provider_is_final_with_its_own_words():
    bench = Bench(ProviderTrouble(Trouble.REFUSED, "no such model", 404))
    result = asyncio.run(bench.run())

    assert (result.status, result.reason, result.message) == (RunStatus.FAILED, "api_error", "no such model")


def test_an_answer_that_broke_off_is_discarded_and_asked_for_again():
    async def story():
        bench = Bench(ProviderTrouble(Trouble.CUT, "cut"), says("whole"))
        result = await bench.run()
        return bench, result, fold("s", await bench.journal.read("s"))

    bench, result, history = asyncio.run(story())
    assert (result.text, history.epoch) == ("whole", 1)
    assert len(bench.seen(ev.Discarded)) == 1
    assert bench.asked(0) == bench.asked(1)


CHECK = Contract(checks=("test",))
RUN_TESTS = asks_for(("bash", {"command": "pytest -q"}))


def test_a_run_that_owes_a_check_ends_only_after_it_passed():
    bench = Bench(says("done!"), RUN_TESTS, says("now it is"), contract=CHECK, workspace=Revision())
    result = asyncio.run(bench.run())

    assert result.text == "now it is"
    assert bench.provider.requests[1].require_tool == "bash"
    assert result.receipt.evidence
    assert result.receipt.revision == "r1"


def test_a_check_before_a_change_does_not_count():
    turns = [RUN_TESTS, says("done"), RUN_TESTS, says("done again")]
    bench = Bench(*turns, contract=CHECK, workspace=Revision("r1", "r1", "r2"))
    result = asyncio.run(bench.run())

    assert result.text == "done again"
    assert result.receipt.revision == "r2"


def test_a_claim_without_proof_fails_at_the_gate_that_says_so():
    bench = Bench(*[says(f"done {n}") for n in range(9)], contract=CHECK, workspace=Revision())
    result = asyncio.run(bench.run())

    assert (result.status, result.reason) == (RunStatus.FAILED, "verification_failed")
    assert result.text == ""


def test_a_secret_is_stored_and_shown_nowhere():
    secret = "sk-very-secret-0123456789"

    class Leaky(Scripted):
        secrets = (secret,)

    async def story():
        turns = [asks_for(("look", {"key": secret}), text=f"key {secret}"), ProviderTrouble(Trouble.REFUSED, secret)]
        bench = Bench(provider=Leaky(turns))
        await bench.run()
        return bench, await bench.journal.read("s")

    bench, entries = asyncio.run(story())
    assert secret not in repr(entries)
    assert secret not in repr(bench.events)
    assert "[redacted]" in repr(entries)


@pytest.mark.parametrize("task", ["", "  \n"])
def test_an_empty_task_is_refused(task):
    with pytest.raises(ConfigError, match="empty"):
        asyncio.run(Bench().run(task))


def test_a_session_name_is_used_once():
    async def story():
        bench = Bench(says("one"), says("two"))
        await bench.run()
        with pytest.raises(ConfigError, match="'s'"):
            await bench.run()

    asyncio.run(story())


def test_an_unknown_session_is_named():
    with pytest.raises(UnknownSession, match="nowhere"):
        asyncio.run(Bench().loop.resume("nowhere"))


def test_checks_without_a_workspace_are_refused():
    with pytest.raises(ConfigError, match="workspace"):
        Bench(contract=CHECK)


def test_an_unknown_check_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="known: test, lint"):
        Bench(contract=Contract(checks=("tests",)), workspace=Revision())


def test_run_sync_needs_no_event_loop():
    assert Bench(says("ok")).loop.run_sync("go").text == "ok"


def test_the_receipt_names_the_candidate_and_its_verdicts():
    async def story():
        bench = Bench(says("ok"))
        await bench.run()
        return await bench.records(Finalized), await bench.journal.read("s")

    (receipt,), entries = asyncio.run(story())
    kinds = {entry.seq: type(entry.record).__name__ for entry in entries}
    assert kinds[receipt.candidate] == "Candidate"
    assert {kinds[seq] for seq in receipt.verdicts} == {"Verdict"}


def test_a_turn_starts_after_everything_before_it_was_shown():
    bench = Bench(asks_for(("look", {})), says("ok"))
    asyncio.run(bench.run())

    places = {
        type(event).__name__: n for n, event in enumerate(bench.events) if isinstance(event, ev.TurnStart | ev.ToolEnd)
    }
    assert places["ToolEnd"] < places["TurnStart"]
    assert [event.turn for event in bench.seen(ev.TurnStart)] == [1, 2]


class Stock:
    def __init__(self, count):
        self.count = count


def test_a_tool_gets_what_the_loop_was_given_as_context(tmp_path):
    @tool(read_only=True)
    def count(stock: Injected[Stock], context: ToolContext) -> str:
        return f"{stock.count} in {context.session} at {context.workspace}"

    bench = Bench(asks_for(("count", {})), says("ok"), tools=[count], context=Stock(7), workspace=tmp_path)
    asyncio.run(bench.run())

    assert [answer.text for answer in bench.answers()] == [f"7 in s at {tmp_path}"]


def test_a_context_that_lacks_what_a_tool_needs_is_told_before_any_run():
    @tool
    def count(stock: Injected[Stock]) -> int:
        return stock.count

    with pytest.raises(ConfigError, match="asks for a Stock"):
        Bench(tools=[count])


def test_a_toolbox_of_ones_own_takes_no_context():
    with pytest.raises(ConfigError, match="Tools"):
        Loop(provider=Scripted([]), tools=Tools([]), context=Stock(1), journal=MemoryJournal())
