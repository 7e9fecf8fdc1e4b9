"""independently_verified: each ruling, its invalidation, its budget, and the verifier itself on real parts."""

import asyncio
import subprocess

import pytest
from support.bench import Bench, story
from support.boxes import Revision

from fsm import Contract, Loop, RunStatus, tool, workspace_tools
from fsm import events as ev
from fsm.agents.verifier import judgement_in
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.providers.scripted import Scripted, asks_for, says
from gates.independently_verified import due
from states.contract import Verify
from states.errors import ConfigError
from states.history import History
from states.messages import UserMessage
from states.ports import Opinion
from states.records import Finalized, Judgement, RunStarted, VerifierResult, VerifierStarted

ALWAYS = Contract(verify="always")
PASS = says("I ran it.\nVERDICT: PASS")
FAIL = says("It does not add.\nVERDICT: FAIL")


class Stub:
    """A verifier that says what it was told to say, and remembers what it was asked."""

    def __init__(self, *said):
        self.said = list(said)
        self.asked = []

    async def opinion(self, caller, session, prompt):
        self.asked.append((session, prompt))
        said = self.said.pop(0)
        return await said() if callable(said) else said


def agrees():
    return Opinion(Judgement.PASS, "fine")


def objects(word=Judgement.FAIL):
    return Opinion(word, "line 3 is wrong")


def bench(*turns, verifier, contract=ALWAYS, workspace=None, **options):
    return Bench(*turns, verifier=verifier, contract=contract, workspace=workspace or Revision(), **options)


# --- what owes it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "owed"), [(0, True), (1, False), (2, False)])
def test_whoever_works_for_a_run_owes_no_verifier_of_its_own(depth, owed):
    history = History("s", started=RunStarted(1, "g", "t", "m", depth=depth), contract=ALWAYS)

    assert due(history) is owed


# --- rulings ----------------------------------------------------------------------------------------------------


def test_a_pass_is_in_the_receipt():
    async def run():
        b = bench(says("done"), verifier=Stub(agrees()))
        return await b.run(), await b.history(), await b.records(Finalized), await b.journal.read("s"), b

    result, history, (receipt,), entries, b = story(run())
    seq, said = history.opinions["independently_verified"]
    assert result.succeeded
    assert (said.judgement, said.revision) == (Judgement.PASS, "r1")
    assert seq in receipt.evidence
    assert audit(GRAPH, entries, "s") == []
    assert len(b.seen(ev.VerifierStart)) == len(b.seen(ev.VerifierEnd)) == 1


@pytest.mark.parametrize("word", [Judgement.FAIL, Judgement.PARTIAL])
def test_an_objection_goes_back_with_its_report_and_is_asked_anew_after_a_change(word):
    async def run():
        workspace = Revision()

        @tool
        async def repair() -> str:
            """Change the workspace."""
            workspace.revisions = ["r2"]
            return "repaired"

        b = bench(
            *(says("done"), asks_for(("repair", {})), says("repaired, done")),
            verifier=Stub(objects(word), agrees()),
            workspace=workspace,
            tools=[repair],
        )
        return await b.run(), b

    result, b = story(run())
    told = b.asked(1)[-1].text
    assert result.succeeded
    assert f"the independent verifier says {word.value.upper()}" in told
    assert "line 3 is wrong" in told


def test_after_three_objections_the_run_fails_and_nobody_is_asked_twice_about_the_same():
    async def run():
        stub = Stub(objects())
        b = bench(*[says(f"done {n}") for n in range(4)], verifier=stub)
        return await b.run(), stub

    result, stub = story(run())
    assert (result.status, result.reason, result.turns) == (RunStatus.FAILED, "verification_failed", 4)
    assert len(stub.asked) == 1


def test_no_clear_word_is_asked_for_again():
    async def run():
        stub = Stub(Opinion(Judgement.NONE, "hm"), agrees())
        b = bench(says("done"), says("done, really"), verifier=stub)
        return await b.run(), stub

    result, stub = story(run())
    assert result.succeeded
    assert len({session for session, _ in stub.asked}) == 2


def test_a_verifier_that_is_down_lets_the_run_rest_and_a_resume_asks_again():
    async def run():
        down = Opinion(Judgement.NONE, unavailable="no route")
        b = bench(says("done"), says("done again"), verifier=Stub(down, agrees()))
        first = await b.run()
        return first, await b.resume()

    first, second = story(run())
    assert (first.status, first.reason) == (RunStatus.SUSPENDED, "verifier")
    assert "no route" in first.message
    assert second.succeeded


# --- what makes a PASS worthless --------------------------------------------------------------------------------


def test_a_pass_dies_with_a_change_while_the_verifier_looked():
    async def run():
        workspace = Revision()

        async def slowly():
            workspace.revisions = ["r2"]
            return agrees()

        b = bench(says("done"), says("done again"), verifier=Stub(slowly, agrees()), workspace=workspace)
        return await b.run(), await b.records(VerifierResult), b

    result, said, b = story(run())
    assert result.succeeded
    assert [each.revision for each in said] == ["", "r2"]
    assert "the workspace changed after the independent verifier had looked" in b.asked(1)[-1].text


def test_a_pass_dies_with_a_change_after_it():
    """It moves between the verifier's look and the receipt: what was passed is another workspace."""

    async def run():
        b = bench(
            *(says("done"), says("done again")),
            verifier=Stub(agrees(), agrees()),
            workspace=Revision("r1", "r1", "r1", "r2"),
        )
        return await b.run(), await b.records(VerifierResult)

    result, said = story(run())
    assert result.succeeded
    assert [each.revision for each in said] == ["r1", "r2"]


def test_a_new_input_makes_a_pass_worthless():
    async def run():
        stub = Stub()

        async def while_somebody_speaks():
            await b.loop.steer("s", "and a test")
            return agrees()

        stub.said = [while_somebody_speaks, agrees()]
        b = bench(says("done"), says("with a test, too"), verifier=stub)
        return await b.run(), stub

    result, stub = story(run())
    assert result.succeeded
    assert len(stub.asked) == 2
    assert "and a test" in stub.asked[1][1]


def test_retries_are_not_refilled_by_a_crash():
    async def run():
        asked = asyncio.Event()

        async def hang():
            asked.set()
            await asyncio.Event().wait()

        words = Opinion(Judgement.NONE)
        b = bench(*[says(f"done {n}") for n in range(6)], verifier=Stub(words, words, hang, words, words))
        await b.lost_at(asked)
        return await b.resume()

    result = story(run())
    assert (result.reason, result.turns) == ("verification_failed", 4)


# --- when it is due ---------------------------------------------------------------------------------------------


def changes(*paths):
    @tool
    async def change() -> object:
        """Change files."""
        from states.ports import ToolOutput
        from states.records import Status

        return ToolOutput(Status.OK, "changed", {"changed": list(paths)})

    return change


@pytest.mark.parametrize(
    ("verify", "paths", "asked"),
    [
        ("auto", ["a.py", "b.py"], 0),
        ("auto", ["a.py", "b.py", "c.py"], 1),
        ("auto", ["server/a.py"], 1),
        ("never", ["a.py", "b.py", "c.py"], 0),
        ("always", [], 1),
    ],
)
def test_it_is_due_as_the_contract_says_and_the_changes_call_for_it(verify, paths, asked):
    async def run():
        stub = Stub(agrees())
        turns = asks_for(("change", {})), says("done")
        b = bench(*turns, verifier=stub, contract=Contract(verify=verify), tools=[changes(*paths)])
        return await b.run(), stub

    result, stub = story(run())
    assert result.succeeded
    assert len(stub.asked) == asked
    assert all(f"- {path}" in stub.asked[0][1] for path in paths if asked)


def test_what_an_agent_changed_counts_and_the_agent_itself_is_not_verified():
    from fsm import Agent

    async def run():
        stub = Stub(agrees())
        agent = Agent("scout", "d", "p", provider=Scripted([asks_for(("change", {})), says("changed")]))
        turns = asks_for(("task", {"agent": "scout", "prompt": "change it"})), says("done")
        b = bench(*turns, verifier=stub, contract=Contract(verify="auto"), agents=[agent], tools=[changes("api/a.py")])
        return await b.run(), stub

    result, stub = story(run())
    assert result.succeeded
    assert [session.startswith("s.independently_verified-") for session, _ in stub.asked] == [True]


def test_giving_a_verifier_is_what_makes_it_auto():
    def verify_of(**options):
        async def run():
            b = Bench(says("done"), **options)
            await b.run()
            return (await b.records(RunStarted))[0].contract.verify

        return story(run())

    assert verify_of(workspace=Revision()) is Verify.NEVER
    assert verify_of(workspace=Revision(), verifier=Stub(agrees())) is Verify.AUTO
    assert verify_of(verifier=Stub()) is Verify.NEVER


def test_without_a_workspace_there_is_nothing_to_verify():
    with pytest.raises(ConfigError, match="checks or a verifier, which are bound to a workspace"):
        Bench(says("done"), contract=ALWAYS)


# --- the built-in one -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("all good\nVERDICT: PASS", "pass"),
        ("VERDICT: FAIL\nbecause", "fail"),
        ("x\n  VERDICT: PARTIAL  \n", "partial"),
        ("VERDICT: PASS\nVERDICT: PASS", "none"),
        ("VERDICT: PASS\nVERDICT: FAIL", "none"),
        ("the VERDICT: PASS", "none"),
        ("VERDICT: PASS, mostly", "none"),
        ("verdict: pass", "none"),
        ("", "none"),
    ],
)
def test_only_one_exact_line_is_a_word(text, word):
    assert judgement_in(text) is Judgement(word)


def repository(root):
    (root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


EDIT = ("edit_file", {"path": "calc.py", "old_string": "a - b", "new_string": "a + b"})


def test_the_built_in_verifier_has_a_session_of_its_own_and_only_eyes(tmp_path):
    """Real files and a real shell: it may run checks, and nothing that could change anything."""
    root = repository(tmp_path)

    async def run():
        looks = asks_for(("bash", {"command": "rm calc.py"}), ("bash", {"command": "cat calc.py"}), EDIT)
        verifier = Scripted([looks, PASS])
        loop = Loop(
            provider=Scripted([asks_for(EDIT), says("I am sure that it is right.")]),
            tools=workspace_tools(root),
            workspace=root,
            contract=ALWAYS,
            verifier=verifier,
        )
        async with loop:
            result = await loop.run("Make add add", session="s")
            child = next(info.session for info in await loop.journal.sessions() if info.session != "s")
            entries = await loop.journal.read(child)
            return result, verifier, audit(GRAPH, entries, child), entries[0].record

    result, verifier, findings, started = story(run())
    (asked, *_), (*_, removed, shown, edited) = verifier.requests[0].messages, verifier.requests[1].messages
    assert result.succeeded
    assert findings == []
    assert (started.agent, started.depth, started.contract.verify) == ("verifier", 1, Verify.NEVER)
    assert "write_file" not in started.tool_names
    assert "neither a check nor" in removed.text
    assert "a + b" in shown.text
    assert edited.failed
    assert "Make add add" in asked.text
    assert "- calc.py" in asked.text
    assert "I am sure" not in str(verifier.requests)
    assert (root / "calc.py").read_text().endswith("a + b\n")
    assert result.usage.total == 4 * 15


def test_where_commands_need_an_approval_the_verifier_runs_none():
    async def run():
        verifier = Scripted([PASS])
        b = bench(says("done"), verifier=verifier, permission="ask")
        result = await b.run()
        return result, [spec.name for spec in verifier.requests[0].tools]

    result, tools = story(run())
    assert result.succeeded
    assert tools == ["look"]


def test_after_a_crash_its_session_is_taken_up_and_not_begun_again():
    async def run():
        looking = asyncio.Event()

        @tool(read_only=True)
        async def stare() -> str:
            """Look for a long time, once."""
            if not looking.is_set():
                looking.set()
                await asyncio.Event().wait()
            return "seen"

        verifier = Scripted([asks_for(("stare", {})), PASS])
        b = bench(says("done"), verifier=verifier, tools=[stare])
        await b.lost_at(looking)
        result = await b.resume()
        sessions = [info.session for info in await b.journal.sessions()]
        return result, sessions, await b.records(VerifierStarted), len(verifier.requests)

    result, sessions, started, asked = story(run())
    assert result.succeeded
    assert len(sessions) == 2
    assert len(started) == 1
    assert asked == 2


def test_what_it_said_before_a_crash_is_taken_and_not_asked_again():
    async def run():
        done = asyncio.Event()
        verifier = Scripted([PASS])
        b = bench(says("done"), verifier=verifier)

        def watch(claim, drafts):
            if claim.session != "s" and any(draft.kind == "finalized" for draft in drafts):
                done.set()
                b.journal.crash()

        b.journal._after = watch
        work = asyncio.create_task(b.run())
        await done.wait()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        b.journal._after = lambda claim, drafts: None
        b.journal.crash()
        return await b.resume(), len(verifier.requests)

    result, asked = story(run())
    assert result.succeeded
    assert asked == 1


def test_cancelling_the_run_stops_its_verifier():
    async def run():
        looking = asyncio.Event()

        @tool(read_only=True)
        async def stare() -> str:
            """Look for ever."""
            looking.set()
            await asyncio.Event().wait()
            return "never"

        b = bench(says("done"), verifier=Scripted([asks_for(("stare", {}))]), tools=[stare])
        work = asyncio.create_task(b.run())
        await looking.wait()
        await b.loop.cancel("s")
        result = await work
        child = next(info.session for info in await b.journal.sessions() if info.session != "s")
        return result, await b.history(child)

    result, child = story(run())
    assert (result.status, result.reason) == (RunStatus.SUSPENDED, "resume")
    assert child.state == "suspended"


def test_a_verifier_that_cannot_be_asked_is_not_taken_for_an_objection():
    async def run():
        b = bench(says("done"), verifier=Scripted([]))
        return await b.run()

    result = story(run())
    assert (result.status, result.reason) == (RunStatus.SUSPENDED, "verifier")


def test_the_verifiers_request_begins_fresh():
    async def run():
        verifier = Scripted([PASS])
        b = bench(asks_for(("look", {"key": "a"})), says("done"), verifier=verifier)
        await b.run("do this")
        return verifier.requests[0].messages

    messages = story(run())
    assert [type(message) for message in messages] == [UserMessage]
    assert "do this" in messages[0].text
