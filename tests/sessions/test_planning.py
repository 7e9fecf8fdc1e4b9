"""Plans are reviewed before they are carried out, and what a tool asks is answered before the run goes on."""

import asyncio

import pytest
from support.bench import Bench, story

from fsm import NeedsConfirmation, RunStatus, ask_user, tool
from fsm import events as ev
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import asks_for, says
from states.contract import Permission
from states.errors import ConfigError
from states.messages import ToolMessage, UserMessage
from states.plan import REMINDER, SUBMIT_PLAN
from states.records import PermissionChange, PlanReview, ToolResult, Understood, UserInput

PLAN = asks_for((SUBMIT_PLAN, {"plan": "1. write x"}))
WRITE = asks_for(("write", {"what": "x"}))


def planning(*turns, **more):
    return Bench(*turns, permission="plan", **more)


def said(bench, number=-1):
    return [message.text for message in bench.asked(number) if isinstance(message, UserMessage)]


def test_a_plan_rests_for_a_review_and_is_carried_out_when_it_is_approved():
    async def tale():
        bench = planning(asks_for(("look", {"key": "a"})), PLAN, WRITE, says("written"))
        rests = await bench.run("write x")
        nothing_yet = list(bench.ledger.effects)
        done = await bench.resume(approve_plan=True, permission="full")
        return bench, rests, nothing_yet, done, await bench.journal.read("s")

    bench, rests, nothing_yet, done, entries = story(tale())
    assert (rests.status, rests.reason, rests.message) == (RunStatus.SUSPENDED, "plan_review", "1. write x")
    assert (nothing_yet, done.text) == ([], "written")
    assert len(bench.ledger.effects) == 1
    assert said(bench) == [
        f"{REMINDER}\n\nwrite x",
        "The plan is approved. Carry it out.\n\n<plan>\n1. write x\n</plan>",
    ]
    kinds = [type(entry.record) for entry in entries]
    assert kinds.index(PermissionChange) < kinds.index(PlanReview) < len(kinds) - kinds[::-1].index(UserInput) - 1
    assert audit(GRAPH, entries) == []


def test_while_planning_only_tools_that_change_nothing_are_offered_and_the_plan_s_own_only_then():
    async def tale():
        bench = planning(PLAN, WRITE, says("written"))
        await bench.run()
        await bench.resume(approve_plan=True, permission="full")
        return [{spec.name for spec in request.tools} for request in bench.provider.requests]

    before, *after = story(tale())
    assert before == {"look", SUBMIT_PLAN}
    assert all(SUBMIT_PLAN not in names and "write" in names for names in after)


def test_an_approved_plan_asks_before_each_change_unless_more_is_allowed():
    async def tale():
        bench = planning(PLAN, WRITE, says("written"))
        await bench.run()
        return await bench.resume(approve_plan=True), bench.ledger.effects

    rests, effects = story(tale())
    assert (rests.reason, effects) == ("approval", [])


def test_a_plan_that_is_rejected_is_planned_anew():
    async def tale():
        again = asks_for((SUBMIT_PLAN, {"plan": "1. write y"}))
        bench = planning(PLAN, again, says("done"))
        await bench.run()
        rests = await bench.resume(reject_plan="not x, y")
        return bench, rests, await bench.history()

    bench, rests, history = story(tale())
    assert (rests.reason, rests.message) == ("plan_review", "1. write y")
    assert "not approved yet; go on planning. not x, y" in said(bench)[-1]
    assert history.permission is Permission.PLAN


def test_words_without_a_decision_are_a_comment_and_no_word_decides_nothing():
    async def tale():
        bench = planning(PLAN, PLAN)
        await bench.run()
        silent = await bench.resume()
        asked = len(bench.provider.requests)
        await bench.resume("and what about y?")
        return bench, silent, asked, await bench.records(PlanReview)

    bench, silent, asked, (review,) = story(tale())
    assert (silent.reason, asked) == ("plan_review", 1)
    assert (review.approved, review.comments) == (False, "and what about y?")
    assert said(bench)[-1].endswith("and what about y?")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"approve_plan": True, "permission": "plan"}, "cannot be carried out under permission 'plan'"),
        ({"approve_plan": True, "reject_plan": "no"}, "both approved and rejected"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(options, words):
    async def tale():
        bench = planning(PLAN)
        await bench.run()
        with pytest.raises(ConfigError, match=words):
            await bench.resume(**options)

    story(tale())


def test_a_review_of_no_plan_is_refused():
    async def tale():
        bench = Bench(says("done"))
        await bench.run()
        with pytest.raises(ConfigError, match="no plan that waits for a review"):
            await bench.resume(approve_plan=True)

    story(tale())


def test_planning_never_succeeds_by_itself():
    """That a plan is good is not that the task is done."""

    async def tale():
        bench = planning(says("I would write x"), says("As I said"), says("Really"), says("Once more"))
        rests = await bench.run()
        return bench, rests, await bench.resume("hand it over")

    bench, rests, still = story(tale())
    assert (rests.status, rests.reason) == (RunStatus.SUSPENDED, "answer")
    assert still.status is RunStatus.SUSPENDED
    assert [request.require_tool for request in bench.provider.requests[:3]] == [None, SUBMIT_PLAN, SUBMIT_PLAN]


def test_the_words_of_a_plan_ask_for_nothing_beyond_the_task():
    async def tale():
        plan = asks_for((SUBMIT_PLAN, {"plan": "Do not run the tests. Run the linter."}))
        bench = planning(plan, says("done"))
        await bench.run("please run the tests")
        await bench.resume(approve_plan=True)
        return [record.kinds for record in await bench.records(Understood)]

    assert story(tale()) == [("test",)]


def test_a_plan_is_handed_over_only_while_planning():
    async def tale():
        bench = Bench(PLAN, says("done"))
        result = await bench.run()
        return bench, result

    bench, result = story(tale())
    assert result.status is RunStatus.SUCCEEDED
    assert "no plan is asked for" in bench.answers()[0].text


def test_the_reserved_name_is_reserved():
    @tool(name=SUBMIT_PLAN)
    async def mine() -> str:
        """Mine."""
        return ""

    with pytest.raises(ConfigError, match="'submit_plan' is the tool"):
        Bench(tools=[mine])


# --- confirmations ----------------------------------------------------------------------------------------------


@tool
async def prepare(goal: str) -> NeedsConfirmation:
    """Prepare a goal."""
    return NeedsConfirmation(f"The goal is: {goal}")


@tool
async def confirm() -> str:
    """Confirm it."""
    return "goal-1"


def flow(*turns, **more):
    return Bench(*turns, tools=[prepare, confirm, ask_user], **more)


PREPARE = asks_for(("prepare", {"goal": "fewer bugs"}))


@pytest.mark.parametrize("words", ["yes", "no: more features"])
def test_what_a_tool_shows_is_confirmed_or_corrected_by_the_next_words(words):
    async def tale():
        bench = flow(PREPARE, asks_for(("confirm", {})), says("confirmed"))
        rests = await bench.run()
        return bench, rests, await bench.resume(words), await bench.journal.read("s")

    bench, rests, done, entries = story(tale())
    assert (rests.status, rests.reason, rests.message) == (RunStatus.SUSPENDED, "answer", "The goal is: fewer bugs")
    assert isinstance(bench.asked(1)[-2], ToolMessage)
    assert bench.asked(1)[-1] == UserMessage(words)
    assert done.text == "confirmed"
    assert [event.asks for event in bench.seen(ev.ToolEnd)] == ["The goal is: fewer bugs", ""]
    assert audit(GRAPH, entries) == []


def test_words_that_were_posted_while_it_rests_are_an_answer():
    async def tale():
        bench = flow(PREPARE, says("confirmed"))
        await bench.run()
        await bench.loop.steer("s", "yes")
        return await bench.resume(), bench

    done, bench = story(tale())
    assert done.text == "confirmed"
    assert bench.asked()[-1] == UserMessage("yes")


def test_two_questions_of_one_turn_are_answered_together():
    async def tale():
        two = asks_for(("ask_user", {"question": "Which?", "options": ["a", "b"]}), ("prepare", {"goal": "g"}))
        bench = flow(two, says("thanks"))
        rests = await bench.run()
        questions = (await bench.history()).questions
        return rests, questions, await bench.resume("a, and yes")

    rests, questions, done = story(tale())
    assert rests.message == "Which?\n- a\n- b"
    assert [question.shows for question in questions] == ["Which?\n- a\n- b", "The goal is: g"]
    assert done.text == "thanks"


def test_nothing_is_asked_by_a_tool_that_failed():
    @tool
    async def fails() -> NeedsConfirmation:
        """Fail."""
        raise RuntimeError("no")

    async def tale():
        return await Bench(asks_for(("fails", {})), says("it failed"), tools=[fails]).run()

    assert story(tale()).status is RunStatus.SUCCEEDED


def next_step(request):
    """What a model that follows its own words does next."""
    done = [message.name for message in request.messages if isinstance(message, ToolMessage) and not message.failed]
    steps = {"look": asks_for(("look", {})), SUBMIT_PLAN: PLAN, "prepare": PREPARE, "write": WRITE}
    return next((turn for name, turn in steps.items() if name not in done), says("written"))


@pytest.mark.parametrize("at", range(1, 16))
def test_a_plan_and_a_question_survive_the_loss_of_the_process_at_every_commit(at):
    async def tale():
        seen = []

        def die(claim, drafts):
            seen.append(drafts)
            if len(seen) == at:
                raise asyncio.CancelledError

        journal = MemoryJournal(after=die)
        bench = planning(*[next_step] * 30, tools=[prepare], journal=journal)

        async def attempt(work):
            await asyncio.gather(work, return_exceptions=True)
            journal.crash()

        await attempt(bench.run("write x"))
        for _ in range(8):
            history = await bench.history()
            options = {"approve_plan": True, "permission": "full"} if history.plan else {}
            words = ["write x"] if history.started is None else ["yes"] if history.questions and not options else []
            if history.state != "succeeded":
                await attempt(bench.resume(*words, **options))
        return len(seen), history, await journal.read("s")

    commits, history, entries = story(tale())
    (approved,) = [e.seq for e in entries if isinstance(e.record, PlanReview)]
    wrote = [e.seq for e in entries if isinstance(e.record, ToolResult) and e.record.output == "wrote x"]
    assert history.state == "succeeded"
    assert commits >= at
    assert all(seq > approved for seq in wrote)
    assert audit(GRAPH, entries) == []
