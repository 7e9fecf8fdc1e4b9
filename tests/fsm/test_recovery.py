"""A lost process is recovered from what is committed: under the permission in force, and in true words."""

import asyncio

import pytest
from support.bench import Bench, Broken, story
from support.boxes import Revision

from fsm import Contract, RunStatus, tool
from fsm.checks.stage import StageClock
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import asks_for, says
from states.errors import JournalUnusable
from states.messages import UserMessage
from states.names import State
from states.ports import ProviderTrouble, ToolOutput
from states.records import Source, Status, ToolIntent, ToolResult, Trouble, UserInput

CHECK = Contract(checks=("test",))


class Starts:
    """Tools that never come back from their first start."""

    def __init__(self):
        self.number = 0
        self.first = asyncio.Event()

    async def start(self):
        self.number += 1
        if self.number == 1:
            self.first.set()
            await asyncio.Event().wait()
        return "deployed"

    def repeatable(self):
        @tool(idempotent=True)
        async def deploy() -> str:
            """Deploy, once for each key."""
            return await self.start()

        return deploy

    def reconcilable(self, found=None):
        @tool(reconcile=lambda run: found)
        async def deploy() -> str:
            """Deploy, and be able to tell whether it happened."""
            return await self.start()

        return deploy


def test_a_call_that_a_person_refused_stays_refused_under_a_wider_permission():
    async def tale():
        bench = Bench(asks_for(("write", {"what": "x"})), says("ok"), permission="ask")
        await bench.run()
        await bench.resume(deny=["call_1_0"], permission="full", reason="never do that")
        return bench, await bench.records(ToolIntent)

    bench, intents = story(tale())
    assert (bench.ledger.effects, intents) == ([], [])
    assert "never do that" in bench.answers()[0].text


def test_the_next_run_of_a_session_heeds_the_permission_it_is_given():
    async def tale():
        bench = Bench(says("one"), asks_for(("write", {"what": "x"})), says("a plan"))
        await bench.run()
        await bench.resume("now only plan", permission="plan")
        return bench

    bench = story(tale())
    assert bench.ledger.effects == []
    assert bench.answers()[0].failed


def test_a_permission_that_was_changed_in_one_run_is_not_taken_for_the_next_ones():
    """Asked for again, it is on record again: the next run would begin with the loop's own."""

    async def tale():
        bench = Bench(ProviderTrouble(Trouble.DOWN, "x"), says("one"), asks_for(("write", {})), says("a plan"))
        await bench.run()
        await bench.resume(permission="plan")
        await bench.resume("again", permission="plan")
        return bench

    bench = story(tale())
    assert bench.ledger.effects == []
    assert bench.answers()[0].failed


@pytest.mark.parametrize(
    ("permission", "starts", "said"),
    [("plan", 1, "may have happened"), ("ask", 1, "may have happened"), ("full", 2, "deployed")],
)
def test_a_lost_call_is_repeated_only_if_the_permission_in_force_lets_it_run(permission, starts, said):
    async def tale():
        deploy = Starts()
        bench = Bench(asks_for(("deploy", {})), says("ok"), tools=[deploy.repeatable()])
        await bench.lost_at(deploy.first)
        await bench.resume(permission=permission)
        return bench, deploy

    bench, deploy = story(tale())
    assert deploy.number == starts
    assert said in bench.answers()[0].text


def test_an_approval_is_spent_by_the_start_that_a_crash_lost():
    async def tale():
        paid = Starts()

        @tool
        async def pay() -> str:
            """Pay, once."""
            return await paid.start()

        bench = Bench(asks_for(("pay", {})), says("ok"), tools=[pay], permission="ask")
        asked = await bench.run()
        approved = asyncio.create_task(bench.resume(approve=["call_1_0"]))
        await paid.first.wait()
        bench.journal.crash()  # after the money was sent, before anybody wrote it down
        approved.cancel()
        await asyncio.gather(approved, return_exceptions=True)
        bench.journal.crash()
        return bench, paid, asked, await bench.resume(), await bench.records(ToolResult)

    bench, paid, asked, result, (unknown,) = story(tale())
    assert (asked.reason, result.status) == ("approval", RunStatus.SUCCEEDED)
    assert (paid.number, unknown.status) == (1, Status.UNKNOWN)
    assert "may have happened" in bench.answers()[0].text


def test_a_lost_call_is_answered_once_however_often_the_run_is_taken_up():
    async def tale():
        down = ProviderTrouble(Trouble.DOWN, "x")
        bench = Bench(asks_for(("hang", {})), down, down, says("ok"))
        await bench.lost_at(bench.ledger.started)
        await bench.resume()
        first = await bench.records(ToolResult)
        bench.journal.crash()
        await bench.resume()
        return bench, first, await bench.resume(), await bench.records(ToolResult)

    bench, first, result, last = story(tale())
    assert [record.status for record in first] == [Status.UNKNOWN]
    assert (last, result.text, len(bench.answers())) == (first, "ok", 1)


def test_a_lost_call_that_certainly_did_not_happen_is_not_started_while_planning():
    async def tale():
        deploy = Starts()
        bench = Bench(asks_for(("deploy", {})), says("ok"), tools=[deploy.reconcilable()])
        await bench.lost_at(deploy.first)
        await bench.resume(permission="plan")
        return bench, deploy

    bench, deploy = story(tale())
    assert deploy.number == 1
    assert "not run again" in bench.answers()[0].text


def test_what_a_tool_found_out_about_a_lost_start_is_no_evidence():
    """Which workspace the lost command saw, nobody knows."""

    async def tale():
        passed = ToolOutput(Status.OK, "3 passed", {"command": "pytest -q", "exit_status": 0})
        deploy = Starts()
        turns = [asks_for(("deploy", {})), says("done"), asks_for(("bash", {"command": "pytest -q"})), says("now")]
        bench = Bench(*turns, tools=[deploy.reconcilable(passed)], contract=CHECK, workspace=Revision())
        await bench.lost_at(deploy.first)
        return bench, await bench.resume(), (await bench.records(ToolResult))[0]

    bench, result, recovered = story(tale())
    assert (result.text, bench.provider.requests[2].require_tool) == ("now", "bash")
    assert recovered.metadata == {"command": "pytest -q", "exit_status": 0, "recovered": True}


def test_a_check_of_its_own_that_breaks_off_leaves_the_call_unknown():
    async def tale():
        async def reconcile(run):
            raise ConnectionError("ledger down")

        deploy = Starts()
        tools = [deploy.reconcilable()]
        bench = Bench(
            asks_for(("deploy", {})), says("ok"), tools=tools, wrap=lambda box: Broken(box, reconcile=reconcile)
        )
        await bench.lost_at(deploy.first)
        return bench, deploy, await bench.resume(), await bench.records(ToolResult)

    bench, deploy, result, (unknown,) = story(tale())
    assert (result.status, deploy.number) == (RunStatus.SUCCEEDED, 1)
    assert unknown.status is Status.UNKNOWN
    assert "ledger down" in bench.answers()[0].text


def test_a_toolbox_that_raises_leaves_no_call_unanswered():
    async def tale():
        async def run(start):
            raise OSError("the sandbox is gone")

        bench = Bench(asks_for(("write", {})), says("ok"), wrap=lambda box: Broken(box, run=run))
        return bench, await bench.run()

    bench, result = story(tale())
    assert result.status is RunStatus.SUCCEEDED
    assert "the sandbox is gone" in bench.answers()[0].text


def test_a_workspace_that_cannot_be_read_costs_no_result():
    class Stale(Revision):
        async def revision(self):
            if bench.ledger.effects and not (await bench.records(ToolResult)):
                raise OSError("stale handle")
            return "r1"

    async def tale():
        await bench.run()
        return await bench.records(ToolResult)

    turns = [asks_for(("write", {"what": "x"})), *(says(f"done {n}") for n in range(4))]
    bench = Bench(*turns, contract=CHECK, workspace=Stale())
    (result,) = story(tale())
    assert (result.status, result.output) == (Status.OK, "wrote x")
    assert result.metadata["revision_after"] is None


@pytest.mark.parametrize("error", [JournalUnusable("a read failed once"), RuntimeError("a read failed once")])
def test_a_result_is_kept_whatever_fails_right_after_it(error):
    class Once(MemoryJournal):
        async def notes(self, session, after):
            if bench.ledger.effects and not failures:
                failures.append(error)
                raise error
            return await super().notes(session, after)

    async def tale():
        await asyncio.gather(bench.run(), return_exceptions=True)
        kept = await bench.records(ToolResult)
        return kept, await bench.resume()

    failures = []
    bench = Bench(asks_for(("write", {"what": "x"})), says("ok"), journal=Once())
    (kept,), result = story(tale())
    assert failures == [error]
    assert (kept.status, kept.output) == (Status.OK, "wrote x")
    assert (result.text, [what for _, what in bench.ledger.effects]) == ("ok", ["x"])


def test_a_read_of_the_store_that_fails_is_not_called_a_lost_message():
    class Once(MemoryJournal):
        async def notes(self, session, after):
            if bench.provider.requests:
                raise JournalUnusable("the disk is gone")
            return await super().notes(session, after)

    bench = Bench(asks_for(("look", {})), says("ok"), journal=Once())
    result = story(bench.run())
    assert (result.status, result.reason, result.message) == (RunStatus.FAILED, "journal_failed", "the disk is gone")


def test_words_after_the_seal_go_to_the_model_when_the_run_was_lost_before_its_receipt():
    class Finalizing(Revision):
        reached = asyncio.Event()

        async def revision(self):
            if (await bench.history()).state is State.FINALIZE and not self.reached.is_set():
                self.reached.set()
                await asyncio.Event().wait()
            return "r1"

    async def tale():
        await bench.lost_at(Finalizing.reached)
        return await bench.resume("please also do X")

    turns = [asks_for(("bash", {"command": "pytest -q"})), says("done"), says("did X too")]
    bench = Bench(*turns, contract=CHECK, workspace=Finalizing())
    result = story(tale())
    assert (result.status, result.text) == (RunStatus.SUCCEEDED, "did X too")
    assert bench.asked()[-1] == UserMessage("please also do X")


def test_a_lost_call_that_is_then_cancelled_may_have_happened_in_full():
    async def tale():
        bench = Bench(asks_for(("hang", {})))
        await bench.lost_at(bench.ledger.started)
        assert await bench.loop.cancel("s")
        return await bench.records(ToolResult)

    (result,) = story(tale())
    assert result.status is Status.UNKNOWN
    assert "in part or in full" in result.output


def test_words_posted_before_a_cancellation_reach_the_model_when_the_run_goes_on():
    async def tale():
        clock = StageClock()
        bench = Bench(asks_for(("hang", {})), says("ok"), clock=clock)
        run = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        await bench.journal.post("s", "use the other branch")
        await bench.journal.post("s", None)
        clock.advance(1)
        first = await run
        return bench, first, await bench.resume(), await bench.records(UserInput)

    bench, first, second, inputs = story(tale())
    assert (first.reason, second.status) == ("resume", RunStatus.SUCCEEDED)
    assert UserMessage("use the other branch") in bench.asked()
    assert inputs[-1] == UserInput("use the other branch", Source.STEERING, inbox=1)


def test_a_call_that_was_waiting_for_the_one_before_it_is_known_not_to_have_started():
    """Exclusive calls start one after the other: only the first open one can have been started before a crash."""

    async def tale():
        bench = Bench(asks_for(("hang", {}), ("write", {"what": "later"})), says("ok"))
        run = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        bench.journal.crash()
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        bench.journal.crash()
        await bench.resume()
        return bench

    bench = story(tale())
    hung, waited = bench.answers()
    assert "may have been started" in hung.text
    assert waited.text == "wrote later"
    assert [what for _, what in bench.ledger.effects] == ["", "later"]
