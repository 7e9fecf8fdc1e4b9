"""Stop hooks: who is asked when a run is about to end, what a refusal does, and what no hook can bring about."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.bench import Bench, story

from fsm import Agent, Loop, events, workspace_tools
from fsm.audit import audit
from fsm.graph import GRAPH, table
from fsm.hooks import Leave, Refusal, Stop, SubagentStop
from fsm.journal import open_journal
from fsm.journal.memory import Fault, MemoryJournal
from fsm.providers.scripted import Scripted, asks_for, says
from gates.inputs_answered import late_inputs_answered
from gates.stop_allowed import REFUSALS
from states.contract import Budget, Contract
from states.errors import ConfigError
from states.messages import UserMessage
from states.names import State
from states.records import HookOutcome, HookResult, Suspended, Transition


def refuses(times, reason="the changelog says nothing of it"):
    """A hook that refuses so often, and what it was told each time."""
    told = []

    def hook(end):
        told.append(end)
        return Refusal(reason) if len(told) <= times else None

    hook.told = told
    return hook


def ended(bench, work=None):
    """The run's result, its journal looked at."""

    async def tale():
        result = await (work or bench.run())
        assert audit(GRAPH, await bench.journal.read("s"), "s") == []
        return result

    return story(tale())


def answered(bench, session="s"):
    return [(said.outcome, said.said) for said in story(bench.records(HookResult, session))]


def test_a_hook_that_has_nothing_against_it_is_on_record_and_in_the_receipt():
    hook = refuses(0)
    bench = Bench(says("done"), hooks=[Stop(hook)])
    result = ended(bench)

    assert result.text == "done"
    assert [(end.session, end.text, end.active, end.agent) for end in hook.told] == [("s", "done", False, "")]
    assert answered(bench) == [(HookOutcome.PASSED, "")]
    (seq,) = [entry.seq for entry in story(bench.journal.read("s")) if isinstance(entry.record, HookResult)]
    assert seq in result.receipt.evidence


def test_a_refusal_sends_the_run_back_and_the_model_reads_why():
    hook = refuses(1)
    bench = Bench(says("done"), says("now it does"), hooks=[Stop(hook)])

    assert ended(bench).text == "now it does"
    assert bench.asked()[-1] == UserMessage(
        "You may not stop yet. A hook of the host says:\nthe changelog says nothing of it"
    )
    assert [end.active for end in hook.told] == [False, True], "the second time it goes on because of a stop hook"
    assert [said.outcome for said in bench.seen(events.HookAnswered)] == [HookOutcome.DENIED, HookOutcome.PASSED]


def test_a_refusal_is_spent_with_its_candidate():
    bench = Bench(says("one"), says("two"), hooks=[Stop(refuses(1))])
    ended(bench)

    first, second = story(bench.records(HookResult))
    assert 0 < first.candidate < second.candidate


@pytest.mark.parametrize("answer", [Refusal("no."), Leave("it may.")])
def test_who_refuses_and_who_lets_it_end_is_the_last_that_is_asked(answer):
    asked = []
    bench = Bench(
        *(says(str(n)) for n in range(2)),
        hooks=[Stop(lambda end: None if end.active else answer), Stop(lambda end: asked.append(end.text))],
    )
    ended(bench)

    assert asked == ([] if isinstance(answer, Leave) else ["1"])


async def _never(end):
    await asyncio.Event().wait()


def _raises(end):
    raise ValueError("no idea")


@pytest.mark.parametrize(
    ("hook", "warning"),
    [
        (Stop(_never, timeout=0.05), "no answer within 0.05 s"),
        (Stop("sleep 60", timeout=0.2), "no answer within 0.2 s"),
        (Stop(_raises), "ValueError: no idea"),
        (Stop(lambda end: "no"), "it returned str, not a Refusal or Leave or None"),
        (Stop(lambda end: Refusal(" ")), "ValueError: a refusal needs a reason"),
        (Stop("echo 'broken' >&2; exit 1"), "exit status 1: broken"),
        (Stop("exit 2"), "it refuses and gives no reason"),
        (Stop("""echo '{"decision":"block"}'"""), "it refuses and gives no reason"),
        (Stop("""echo '{"decision":"block","reason":7}'"""), "it refuses and gives no reason"),
        (Stop("echo '{'"), "its output begins like JSON and is none"),
        (Stop("no-such-program-here"), "exit status 127: "),
    ],
)
def test_a_hook_that_fails_lets_the_run_end_with_a_warning_on_record(hook, warning):
    bench = Bench(says("done"), hooks=[hook])

    assert ended(bench).text == "done"
    ((outcome, said),) = answered(bench)
    assert outcome is HookOutcome.FAILED
    assert said.startswith(warning)


@pytest.mark.parametrize(
    ("command", "outcome", "said"),
    [
        ("echo 'run the tests' >&2; exit 2", HookOutcome.DENIED, "run the tests"),
        ("""echo '{"decision":"block","reason":"run the tests"}'""", HookOutcome.DENIED, "run the tests"),
        (
            """echo '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"run the tests"}}'""",
            HookOutcome.DENIED,
            "run the tests",
        ),
        ("""echo '{"continue":false,"stopReason":"enough"}'""", HookOutcome.PASSED, "enough"),
        (
            """echo '{"continue":false,"stopReason":"enough","decision":"block","reason":"no"}'""",
            HookOutcome.PASSED,
            "enough",
        ),
        ("""echo '{"decision":"approve"}'""", HookOutcome.PASSED, ""),
        ("echo all is well", HookOutcome.PASSED, ""),
        ("exit 0", HookOutcome.PASSED, ""),
    ],
)
def test_what_a_command_may_answer(command, outcome, said):
    once = f"grep -q '\"stop_hook_active\":true' && exit 0; {command}"
    bench = Bench(says("done"), says("done now"), hooks=[Stop(once)])

    assert ended(bench).status == "succeeded"
    assert answered(bench)[0] == (outcome, said)
    assert len(bench.provider.requests) == (2 if outcome is HookOutcome.DENIED else 1)


def test_a_command_reads_the_end_as_claude_code_says_it(tmp_path):
    hook = Stop(f"cat >>{tmp_path}/asked; echo >>{tmp_path}/asked; test -e {tmp_path}/ok || "
                f"{{ touch {tmp_path}/ok; echo again >&2; exit 2; }}")  # fmt: skip
    ended(Bench(says("one"), says("two"), hooks=[hook], workspace=tmp_path))

    first, second = map(json.loads, (tmp_path / "asked").read_text().splitlines())
    assert first == {
        "session_id": "s",
        "transcript_path": "",
        "cwd": str(tmp_path),
        "permission_mode": "bypassPermissions",
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "last_assistant_message": "one",
    }
    assert (second["stop_hook_active"], second["last_assistant_message"]) == (True, "two")


# --- a bound on refusals ----------------------------------------------------------------------------------------


def test_after_eight_refusals_in_a_row_the_run_rests_and_a_persons_words_take_it_up():
    hook = refuses(REFUSALS + 1)
    bench = Bench(*(says(f"answer {n}") for n in range(REFUSALS + 3)), hooks=[Stop(hook)])
    result = ended(bench)

    assert (result.status, result.reason) == ("suspended", "answer")
    assert len(hook.told) == REFUSALS + 1 == 9
    assert "refused 9 times in a row" in result.message
    assert "the changelog says nothing of it" in result.message
    assert ended(bench, bench.resume("leave the changelog")).status == "succeeded"
    assert hook.told[-1].active is False, "a person's words end the row"


def test_a_plain_resume_of_a_run_that_was_refused_too_often_tries_once_more():
    hook = refuses(REFUSALS + 2)
    bench = Bench(*(says(f"answer {n}") for n in range(REFUSALS + 4)), hooks=[Stop(hook)])
    ended(bench)

    assert ended(bench, bench.resume()).reason == "answer", "refused once more"
    assert ended(bench, bench.resume()).status == "succeeded"
    assert len(hook.told) == REFUSALS + 3


def test_the_row_of_refusals_ends_where_a_hook_lets_the_run_stop():
    """Words that come late are another reason to go on; the next refusal is the first of its row."""
    told = []

    async def hook(end):
        told.append(end.active)
        if len(told) == 2:
            await bench.loop.steer("s", "one more thing")
        return Refusal("no") if len(told) in (1, 3) else None

    bench = Bench(*(says(f"answer {n}") for n in range(4)), hooks=[Stop(hook)])

    assert ended(bench).text == "answer 3"
    assert told == [False, True, False, True]


def test_a_refusal_without_budget_rests_for_the_budget():
    bench = Bench(says("done"), says("now"), hooks=[Stop(refuses(1))], budget=Budget(max_turns=1))

    assert ended(bench).reason == "budget"
    assert ended(bench, bench.resume(budget=Budget(max_turns=5))).text == "now"


def test_no_crash_refills_the_bound():
    hook = refuses(REFUSALS + 1)
    lost = [Fault.NONE] * 30
    lost[9] = Fault.KEPT  # somewhere on the way the process is lost, and what it wrote last is there
    journal = MemoryJournal(lost)
    bench = Bench(*(says(f"answer {n}") for n in range(REFUSALS + 3)), hooks=[Stop(hook)], journal=journal)

    assert story(bench.run()).status == "failed"
    journal.crash()
    assert ended(bench, bench.resume()).reason == "answer"
    refusals = [said for said in story(bench.records(HookResult)) if said.outcome is HookOutcome.DENIED]
    assert len(refusals) == REFUSALS + 1


# --- crashes ----------------------------------------------------------------------------------------------------


def test_a_crash_before_the_answers_are_durable_asks_again():
    hook = refuses(0)
    journal = MemoryJournal([Fault.NONE, Fault.NONE, Fault.LOST])
    bench = Bench(says("done"), hooks=[Stop(hook)], journal=journal)

    assert story(bench.run()).status == "failed"
    journal.crash()
    assert answered(bench) == []
    assert ended(bench, bench.resume()).text == "done"
    assert len(hook.told) == 2


def test_a_crash_after_the_answers_are_durable_asks_nobody():
    hook = refuses(1)
    journal = MemoryJournal([Fault.NONE, Fault.NONE, Fault.KEPT])
    bench = Bench(says("done"), says("now"), hooks=[Stop(hook)], journal=journal)

    assert story(bench.run()).status == "failed"
    journal.crash()
    assert answered(bench) == [(HookOutcome.DENIED, "the changelog says nothing of it")]
    assert ended(bench, bench.resume()).text == "now", "the refusal counts, though its process is gone"
    assert len(hook.told) == 2


def test_what_a_hook_allowed_on_another_workspace_does_not_count(tmp_path):
    """The process is lost between the answer and the end; meanwhile the workspace is changed."""
    (tmp_path / "a.txt").write_text("one")
    hook = refuses(0)
    journal = MemoryJournal([Fault.NONE, Fault.NONE, Fault.KEPT])
    bench = Bench(says("done"), says("still done"), hooks=[Stop(hook)], journal=journal, workspace=tmp_path)

    assert story(bench.run()).status == "failed"
    journal.crash()
    (tmp_path / "a.txt").write_text("two")
    assert ended(bench, bench.resume()).text == "still done"
    assert len(hook.told) == 2
    assert "The workspace changed after the hooks" in bench.asked()[-1].text


def test_a_hook_may_change_the_workspace_itself(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    bench = Bench(says("done"), hooks=[Stop("cat >/dev/null; echo formatted >a.txt")], workspace=tmp_path)

    assert ended(bench).text == "done"
    assert (tmp_path / "a.txt").read_text() == "formatted\n"


def test_a_check_that_passed_before_a_hook_changed_the_workspace_has_to_run_again(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    turns = Scripted([check := asks_for(("bash", {"command": "test -s a.txt"})), says("one"), check, says("two")])
    loop = Loop(
        provider=turns,
        journal=MemoryJournal(),
        workspace=tmp_path,
        tools=workspace_tools(tmp_path),
        contract=Contract(commands=["test -s a.txt"]),
        hooks=[Stop("cat >/dev/null; echo formatted >a.txt")],
    )

    assert story(loop.run("go")).text == "two"


KILLED = """
import asyncio, sys
from fsm import Loop
from fsm.hooks import Stop
from fsm.providers.scripted import Scripted, says

loop = Loop(provider=Scripted([says("done")]), workspace=sys.argv[1], journal=sys.argv[2], hooks=[Stop(sys.argv[3])])
asyncio.run(loop.run("go", session="s"))
"""


def test_kill_9_while_a_stop_hook_runs_asks_it_again_and_its_answer_is_the_one_that_counts(tmp_path):
    """The lost one would have refused; the one that is asked after the resume allows."""
    os.mkfifo(tmp_path / "fifo")
    place, file = tmp_path / "work", tmp_path / "journal.db"
    place.mkdir()
    command = f"cat >/dev/null; echo asked >>{tmp_path}/log; echo up >{tmp_path}/fifo; read x <{tmp_path}/fifo; exit 2"
    process = subprocess.Popen([sys.executable, "-c", KILLED, place, file, command], cwd=Path(__file__).parents[2])
    with (tmp_path / "fifo").open() as told:
        assert told.read() == "up\n", "the hook runs"
    process.send_signal(signal.SIGKILL)
    process.wait()
    with (tmp_path / "fifo").open("w") as go_on:
        go_on.write("\n")  # what the dead process had started need not wait any longer

    async def tale():
        journal = open_journal(file)
        assert not [e for e in await journal.read("s") if isinstance(e.record, HookResult)], "nobody knows its answer"
        bench = Bench(says("not asked"), hooks=[Stop(f"cat >/dev/null; echo asked >>{tmp_path}/log")], journal=journal)
        result = await bench.resume()
        assert (result.text, bench.provider.requests) == ("done", [])
        assert audit(GRAPH, await journal.read("s"), "s") == []
        assert [said.outcome for said in await bench.records(HookResult)] == [HookOutcome.PASSED]
        await journal.close()

    story(tale())
    assert (tmp_path / "log").read_text() == "asked\nasked\n"


def test_a_cancellation_does_not_wait_for_a_hook(tmp_path):
    begun = asyncio.Event()

    async def hook(end):
        begun.set()
        await asyncio.Event().wait()

    async def tale():
        run = asyncio.create_task(bench.run())
        await begun.wait()
        assert await bench.loop.cancel("s", "enough")
        return await run

    bench = Bench(says("done"), hooks=[Stop(hook)])
    assert story(tale()).reason == "resume"
    assert answered(bench) == []


# --- others that work for a run ---------------------------------------------------------------------------------


def test_an_agents_end_is_put_before_the_hooks_for_agents_alone():
    told = []

    def hook(end):
        told.append((type(end).__name__, end.agent, end.caller, end.session, end.active))
        return Refusal("look again") if end.agent and not end.active else None

    bench = Bench(
        *(asks_for(("task", {"agent": "scout", "prompt": "look"})), says("found"), says("really found"), says("done")),
        agents=[Agent("scout", "Looks.", "You look.")],
        hooks=[SubagentStop(hook, "scout"), SubagentStop(_raises, "someone else"), Stop(hook)],
    )

    assert ended(bench).text == "done"
    (child,) = story(bench.history()).children
    assert told == [
        ("Ending", "scout", "s", child, False),
        ("Ending", "scout", "s", child, True),
        ("Ending", "", "", "s", False),
    ]
    assert bench.answers()[-1].text.endswith("really found")
    assert [said.event for said in story(bench.records(HookResult, child))] == ["SubagentStop"] * 2


def test_a_command_hears_of_an_agent_as_claude_code_says_it(tmp_path):
    bench = Bench(
        *(asks_for(("task", {"agent": "scout", "prompt": "look"})), says("found"), says("done")),
        agents=[Agent("scout", "Looks.", "You look.")],
        hooks=[SubagentStop(f"cat >{tmp_path}/asked")],
    )
    ended(bench)

    said = json.loads((tmp_path / "asked").read_text())
    (child,) = story(bench.history()).children
    assert (said["hook_event_name"], said["session_id"]) == ("SubagentStop", "s")
    assert (said["agent_id"], said["agent_type"], said["last_assistant_message"]) == (child, "scout", "found")


def test_whoever_only_verifies_is_put_before_no_hook(tmp_path):
    hook = refuses(0)
    bench = Bench(
        *(says("done"), says("fine\nVERDICT: PASS")),
        workspace=tmp_path,
        contract=Contract(verify="always"),
        hooks=[Stop(hook), SubagentStop(_raises)],
    )

    assert ended(bench).text == "done"
    assert [end.text for end in hook.told] == ["done"]
    assert answered(bench) == [(HookOutcome.PASSED, "")]


# --- what is not asked, and what is refused ---------------------------------------------------------------------


def test_a_run_that_does_not_get_to_its_end_asks_no_stop_hook():
    hook = refuses(0)
    bench = Bench(says(""), says(""), hooks=[Stop(hook)], budget=Budget(max_turns=1))
    ended(bench)

    assert hook.told == []


class Watching:
    """A host of the caller's own."""

    def watches(self, name):
        return False

    async def before(self, session, call, name, arguments):
        return ()

    async def after(self, run, output):
        return output

    async def stopping(self, history):
        return (HookResult("", "Stop", "mine", HookOutcome.PASSED, candidate=history.candidate),)


def test_a_host_of_ones_own_answers_instead_of_hooks():
    bench = Bench(says("done"), hooks=Watching())

    assert ended(bench).text == "done"
    assert answered(bench) == [(HookOutcome.PASSED, "")]


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Stop(" "), "an empty command"),
        (lambda: Bench(hooks=Stop("true")), r"give a list of hooks, or a states\.ports\.Hooks"),
        (lambda: Bench(hooks=[Stop("true")], graph=table(at_stop=(late_inputs_answered,))), "no row of the table asks"),
    ],
)
def test_a_stop_hook_that_nobody_would_ask_is_refused(make, named):
    with pytest.raises(ConfigError, match=named):
        make()


def test_a_run_that_rests_after_refusals_says_which_gate_rested_it():
    bench = Bench(*(says(f"answer {n}") for n in range(REFUSALS + 1)), hooks=[Stop(refuses(REFUSALS + 1))])
    ended(bench)

    (rest,) = story(bench.records(Suspended))
    last = story(bench.records(Transition))[-1]
    assert (rest.gate, last.source, last.target) == ("stop_allowed", State.STOP_HOOK, State.SUSPENDED)
