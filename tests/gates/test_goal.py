"""Goals of a session: who finds that one is reached, what makes that void, how far it has come, who may change it."""

import asyncio

import pytest
from support.bench import Bench, story
from support.boxes import Revision

from fsm import Loop, tool, workspace_tools
from fsm.audit import audit
from fsm.graph import GRAPH, table
from fsm.hooks import Refusal, Stop
from fsm.journal.memory import Fault, MemoryJournal
from fsm.providers.scripted import Scripted, asks_for, says
from gates.independently_verified import RETRIES
from states.contract import Budget, Contract
from states.errors import ConfigError, HistoryError
from states.fold import fold
from states.goals import GoalStatus, evidence_digest, goal_status
from states.ports import Opinion
from states.records import Entry, Finalized, GoalChange, GoalSet, GoalWord, Judgement, RunStarted, UserInput
from states.records import VerifierResult as Word

GOAL = "the page loads within a second"


class Stub:
    """A verifier that says what it was told to say (at last: PASS), and remembers what it was asked."""

    def __init__(self, *said):
        self.said = list(said)
        self.asked = []

    async def opinion(self, caller, session, prompt):
        self.asked.append((session, prompt))
        said = self.said.pop(0) if self.said else Opinion(Judgement.PASS, "it does")
        return await said() if callable(said) else said


FAIL = Opinion(Judgement.FAIL, "it takes two seconds")
PARTIAL = Opinion(Judgement.PARTIAL, "it does, sometimes")


def bench(*turns, verifier=None, workspace=None, contract=Contract(verify="never"), **options):
    parts = {"verifier": verifier or Stub(), "workspace": workspace or Revision(), "contract": contract}
    return Bench(*turns, goal=GOAL, **parts, **options)


def answers(count):
    return [says(f"answer {n}") for n in range(count)]


def ended(b, work=None):
    async def tale():
        result = await (work or b.run())
        assert audit(GRAPH, await b.journal.read("s"), "s") == []
        return result

    return story(tale())


def status(b):
    return goal_status(story(b.history()))


@tool
async def change() -> str:
    """Change the workspace: the test does."""
    return "changed"


# --- reached ----------------------------------------------------------------------------------------------------


def test_a_goal_that_a_fresh_verifier_finds_reached_is_complete_and_its_evidence_is_in_the_receipt():
    b = bench(says("I am sure that it is fast"), verifier=(stub := Stub()))
    result = ended(b)
    history = story(b.history())
    seq, said = history.opinions["goal_met"]

    assert result.succeeded
    assert goal_status(history) is GoalStatus.COMPLETE
    assert seq in result.receipt.evidence
    assert len(result.receipt.goal) == 64
    assert (said.judgement, said.revision) == (Judgement.PASS, result.receipt.revision)
    ((session, prompt),) = stub.asked
    assert session.startswith("s.goal_met-")
    assert f"<goal>\n{GOAL}\n</goal>" in prompt
    assert "I am sure" not in prompt, "nothing that the model claims reaches it"


def test_the_model_is_told_the_goal_before_the_task():
    b = bench(says("done"))
    ended(b)

    goal, task = b.asked(0)[-2:]
    assert goal.text.startswith(f"The goal of this session: {GOAL}")
    assert task.text == "go"


def test_the_goal_of_one_run_stands_over_that_of_the_loop():
    b = bench(says("done"))
    story(b.loop.run("go", session="s", goal="all tests pass"))

    assert story(b.loop.goal("s")) == ("all tests pass", GoalStatus.COMPLETE)


def test_without_a_goal_nobody_is_asked():
    b = Bench(says("done"), verifier=(stub := Stub()), workspace=Revision(), contract=Contract(verify="never"))

    assert ended(b).succeeded
    assert (stub.asked, story(b.loop.goal("s"))) == ([], None)


def test_a_goal_that_is_complete_is_not_asked_for_by_the_next_run():
    b = bench(*answers(2), verifier=(stub := Stub()))
    ended(b)

    assert ended(b, b.resume("something else")).succeeded
    assert len(stub.asked) == 1


# --- not reached ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [FAIL, PARTIAL, Opinion(Judgement.NONE)])
def test_a_goal_that_is_not_reached_sends_the_run_on_with_the_findings(word):
    workspace = Revision("r1")

    async def repaired():
        return Opinion(Judgement.PASS, "now it does")

    @tool
    async def repair() -> str:
        """Change the workspace."""
        workspace.revisions = ["r2"]
        return "repaired"

    b = bench(
        *(says("done"), asks_for(("repair", {})), says("done again")),
        verifier=(stub := Stub(word, repaired)),
        workspace=workspace,
        tools=[repair],
    )
    assert ended(b).text == "done again"
    assert word.said in b.asked(1)[-1].text
    assert "the goal's verifier" in b.asked(1)[-1].text
    assert len(stub.asked) == 2


def test_after_three_corrections_the_goal_is_blocked_and_a_persons_words_go_on():
    b = bench(*answers(RETRIES + 2), verifier=Stub(FAIL))
    result = ended(b)

    assert (result.status, result.reason) == ("suspended", "answer")
    assert "the goal is not reached, after 3 corrections: the goal's verifier says FAIL" in result.message
    assert status(b) is GoalStatus.BLOCKED
    assert ended(b, b.resume("the cache is warm now")).succeeded
    assert status(b) is GoalStatus.COMPLETE


def test_without_budget_the_goal_is_limited_by_it_and_more_of_it_goes_on():
    b = bench(*answers(2), verifier=Stub(FAIL), budget=Budget(max_turns=1), tools=[change])

    assert ended(b).reason == "budget"
    assert status(b) is GoalStatus.BUDGET_LIMITED
    b.loop._workspace.revisions = ["r2"]
    assert ended(b, b.resume(budget=Budget(max_turns=3))).succeeded


def test_no_crash_refills_the_corrections():
    faults = [Fault.NONE] * 40
    faults[5] = Fault.KEPT
    b = bench(*answers(RETRIES + 2), verifier=Stub(FAIL), journal=(journal := MemoryJournal(faults)))

    assert story(b.run()).status == "failed"
    journal.crash()
    assert ended(b, b.resume()).reason == "answer"
    assert story(b.history()).retries["goal_met"] == RETRIES


def test_a_run_that_fails_leaves_its_goal_to_the_next_one():
    b = bench(says(""), says(""), says("done"), verifier=(stub := Stub()))

    assert ended(b).reason == "empty_final"
    assert status(b) is GoalStatus.PAUSED
    assert stub.asked == []
    assert ended(b, b.resume("once more")).succeeded
    assert status(b) is GoalStatus.COMPLETE


def test_a_verifier_that_cannot_look_lets_the_run_rest():
    b = bench(*answers(2), verifier=Stub(Opinion(Judgement.NONE, unavailable="it is down")))

    assert ended(b).reason == "verifier"
    assert status(b) is GoalStatus.BLOCKED
    assert ended(b, b.resume()).succeeded


# --- what makes a verdict void ----------------------------------------------------------------------------------


def test_a_refusal_of_a_stop_hook_makes_what_was_said_before_stale():
    """Nobody looks at a candidate that a stop hook refuses; what was said of the one before is asked anew."""
    told = []

    def hook(end):
        told.append(end.text)
        return Refusal("write it down") if len(told) == 2 else None

    b = bench(*answers(3), verifier=(stub := Stub(FAIL)), hooks=[Stop(hook)])

    assert ended(b).succeeded
    assert len(told) == 3
    assert len(stub.asked) == 2, "of the same workspace, FAIL would have stood"


def test_new_words_make_what_was_said_before_stale():
    async def words():
        await b.loop.steer("s", "and on a phone")
        return Opinion(Judgement.PASS, "it does")

    b = bench(*answers(2), verifier=(stub := Stub(words)))

    assert ended(b).text == "answer 1"
    assert len(stub.asked) == 2


def test_a_word_about_a_workspace_that_changed_meanwhile_does_not_count():
    workspace = Revision("r1")

    async def moves():
        workspace.revisions = ["r2"]
        return Opinion(Judgement.PASS, "it did")

    b = bench(*answers(2), verifier=(stub := Stub(moves)), workspace=workspace)

    assert ended(b).text == "answer 1"
    assert len(stub.asked) == 2
    assert [said.revision for said in story(b.records(Word))] == ["", "r2"]


def test_a_pass_for_one_candidate_is_none_for_the_next():
    """The receipt is void since the workspace moved, and moves back: the goal is asked for again."""
    b = bench(*answers(2), verifier=(stub := Stub()), workspace=Revision("r1", "r1", "r1", "r2", "r1"))

    assert ended(b).succeeded
    assert len(story(b.records(Finalized))) == len(stub.asked) == 2


def test_a_receipt_that_does_not_name_the_evidence_is_refused(monkeypatch):
    monkeypatch.setattr("states.finalize.evidence_digest", lambda history: "")

    assert story(bench(says("done")).run()).reason == "unjustified"


def test_the_digest_covers_goal_candidate_workspace_and_report():
    b = bench(says("done"))
    story(b.run())
    entries = story(b.journal.read("s"))
    upto = next(n for n, entry in enumerate(entries) if isinstance(entry.record, Finalized))
    history = fold("s", entries[:upto])
    whole = evidence_digest(history)
    seq, said = history.opinions["goal_met"]
    import attrs

    for other in ({"said": "x"}, {"revision": "r9"}, {"session": "t"}):
        history.opinions["goal_met"] = (seq, attrs.evolve(said, **other))
        assert evidence_digest(history) not in ("", whole)
    history.opinions["goal_met"] = (seq, attrs.evolve(said, judgement=Judgement.FAIL))
    assert evidence_digest(history) == ""


# --- crashes ----------------------------------------------------------------------------------------------------


def test_a_verifier_that_was_lost_is_taken_up_under_its_name_and_the_goal_completes_once():
    begun = asyncio.Event()

    async def hangs():
        begun.set()
        await asyncio.Event().wait()

    b = bench(*answers(1), verifier=(stub := Stub(hangs)))

    async def tale():
        await b.lost_at(begun)
        assert goal_status(await b.history()) is GoalStatus.VERIFYING
        return await b.resume()

    assert story(tale()).text == "answer 0"
    assert len({session for session, _ in stub.asked}) == 1
    assert status(b) is GoalStatus.COMPLETE


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.KEPT])
def test_a_goal_is_complete_with_the_final_commit_and_not_before(fault):
    commits = []
    ended(bench(*answers(1), journal=MemoryJournal(after=lambda claim, drafts: commits.append(drafts))))
    faults = [Fault.NONE] * (len(commits) - 1) + [fault]
    b = bench(*answers(1), verifier=Stub(), journal=(journal := MemoryJournal(faults)))

    assert story(b.run()).status == "failed"
    journal.crash()
    assert status(b) is (GoalStatus.COMPLETE if fault is Fault.KEPT else GoalStatus.VERIFYING)
    assert ended(b, b.resume()).succeeded
    assert status(b) is GoalStatus.COMPLETE


# --- people -----------------------------------------------------------------------------------------------------


def test_a_goal_can_be_paused_taken_up_again_and_given_up():
    b = bench(*answers(9), verifier=Stub(FAIL))
    ended(b)

    async def tale():
        said = [await b.loop.goal("s", word) for word in ("pause", "resume", None)]
        return said, await b.loop.goal("s", "clear")

    assert story(tale()) == (
        [(GOAL, GoalStatus.PAUSED), (GOAL, GoalStatus.BLOCKED), (GOAL, GoalStatus.BLOCKED)],
        None,
    )
    assert ended(b, b.resume("never mind")).receipt.goal == ""


def test_a_goal_that_is_paused_is_not_asked_for():
    b = bench(*answers(9), verifier=(stub := Stub(FAIL, FAIL, FAIL)))
    ended(b)
    asked = len(stub.asked)
    story(b.loop.goal("s", GoalWord.PAUSE))

    assert ended(b, b.resume("leave it")).succeeded
    assert (len(stub.asked), status(b)) == (asked, GoalStatus.PAUSED)


def test_what_no_goal_can_be_said_to_be_is_refused():
    b = bench(says("done"))
    ended(b)

    with pytest.raises(ConfigError, match="has no open goal to pause"):
        story(b.loop.goal("s", "pause"))
    with pytest.raises(ConfigError, match="a goal is verified on a workspace"):
        Bench(goal=GOAL)
    with pytest.raises(ConfigError, match="no row of the table asks 'goal_met'"):
        bench(graph=table(at_stop=()))


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ((GoalSet(" "),), "a goal without words"),
        ((GoalChange(GoalWord.PAUSE),), "no goal that is open"),
        ((GoalSet("x"), GoalChange(GoalWord.PAUSE)), "a goal changes in provider_turn"),
    ],
)
def test_the_fold_refuses_a_goal_that_contradicts_what_is_known(records, why):
    said = (RunStarted(1, "g", "t", "m"), UserInput("go"), *records)

    with pytest.raises(HistoryError, match=why):
        fold("s", [Entry(seq, 0.0, 1, record) for seq, record in enumerate(said, 1)])


# --- the whole of it --------------------------------------------------------------------------------------------


def test_a_goal_is_reached_with_real_files_and_the_built_in_verifier(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    write = asks_for(("write_file", {"path": "a.txt", "content": "two"}))
    verdicts = [
        *(asks_for(("read_file", {"path": "a.txt"})), says("It says one.\nVERDICT: FAIL")),
        *(asks_for(("read_file", {"path": "a.txt"})), says("It says two.\nVERDICT: PASS")),
    ]
    loop = Loop(
        provider=Scripted([says("It says two."), write, says("Now it does.")]),
        verifier=(verifier := Scripted(verdicts)),
        workspace=tmp_path,
        tools=workspace_tools(tmp_path),
        contract=Contract(verify="never"),
    )

    async def tale():
        async with loop:
            result = await loop.run("go", session="s", goal="a.txt says two")
            return result, await loop.goal("s"), audit(GRAPH, await loop.journal.read("s"), "s")

    result, goal, findings = story(tale())
    assert (result.text, findings) == ("Now it does.", [])
    assert goal == ("a.txt says two", GoalStatus.COMPLETE)
    assert "<goal>\na.txt says two\n</goal>" in verifier.requests[0].messages[0].text
    assert "It says two." not in verifier.requests[0].messages[0].text
