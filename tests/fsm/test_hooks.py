"""Hooks around calls: what they may deny, change, ask and add, as functions and as commands; what is on record."""

import json
from pathlib import Path

import pytest
from support.bench import Bench, story

from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.hooks import PostToolUse, PreToolUse, ToolAnswer
from fsm.providers.scripted import Scripted, asks_for, says
from fsm.tools import tool
from fsm.tools.limits import LIMIT
from states.errors import ConfigError
from states.records import ApprovalAsked, HookOutcome, HookResult, ToolIntent, ToolResult

PAID = []


@tool
async def pay(account: int) -> str:
    """Pay."""
    PAID.append(account)
    return f"paid {account}"


@tool
async def edit_file(path: str) -> str:
    """Edit."""
    return f"edited {path}"


@pytest.fixture(autouse=True)
def nothing_paid():
    PAID.clear()


def paying(*hooks, **options):
    return Bench(asks_for(("pay", {"account": 1})), says("ok"), tools=[pay], hooks=hooks, **options)


def hooked(bench):
    return [(said.outcome, said.said) for said in story(bench.records(HookResult))]


def answered(bench):
    assert story(bench.run()).text == "ok"
    assert audit(GRAPH, story(bench.journal.read("s")), "s") == []
    return bench.answers()[0].text


def test_a_hook_that_has_nothing_to_say_is_on_record_and_changes_nothing():
    seen = []
    bench = paying(PreToolUse(lambda use: seen.append((use.session, use.call, use.name, dict(use.arguments)))))

    assert answered(bench) == "paid 1"
    assert seen == [("s", "call_1_0", "pay", {"account": 1})]
    assert hooked(bench) == [(HookOutcome.PASSED, "")]


def test_a_hook_may_deny_and_the_model_reads_why():
    bench = paying(PreToolUse(lambda use: ToolAnswer(deny="no money left.")))

    assert answered(bench) == "Denied by a hook: no money left. Not started."
    assert PAID == []
    assert story(bench.records(ToolIntent)) == []


def test_a_hook_may_change_the_input_and_the_next_one_sees_it():
    seen = []
    bench = paying(
        PreToolUse(lambda use: ToolAnswer(arguments={"account": 7})),
        PreToolUse(lambda use: seen.append(dict(use.arguments))),
    )

    assert answered(bench) == "paid 7"
    assert (PAID, seen) == ([7], [{"account": 7}])
    assert [intent.arguments for intent in story(bench.records(ToolIntent))] == ['{"account":7}']


def test_changed_input_is_validated_anew():
    bench = paying(PreToolUse(lambda use: ToolAnswer(arguments={"account": "seven"})))

    assert "the arguments do not fit pay" in answered(bench)
    assert PAID == []


def test_changed_input_is_permitted_anew():
    bench = paying(PreToolUse(lambda use: ToolAnswer(arguments={"account": 7})), rules={"deny": ["pay(account=7)"]})

    assert answered(bench) == "Denied: deny pay(account=7). Not started."


def test_an_approval_of_the_old_input_does_not_reach_the_new_one():
    bench = paying(PreToolUse(lambda use: ToolAnswer(arguments={"account": 7})), permission="ask")

    assert story(bench.run()).reason == "approval"
    assert story(bench.resume(approve=["call_1_0"])).reason == "approval", "it was given for account 1"
    assert PAID == []
    assert story(bench.resume(approve=["call_1_0"])).text == "ok"
    assert PAID == [7]
    assert [asked.arguments for asked in story(bench.records(ApprovalAsked))] == ['{"account":1}', '{"account":7}']
    assert audit(GRAPH, story(bench.journal.read("s")), "s") == []


def test_a_hook_may_have_a_person_asked():
    bench = paying(PreToolUse(lambda use: ToolAnswer(ask="is that so?")))

    assert story(bench.run()).reason == "approval"
    (asked,) = story(bench.records(ApprovalAsked))
    assert asked.why == "a hook asks: is that so?"
    assert story(bench.resume(approve=["call_1_0"])).text == "ok"
    assert PAID == [1]
    assert len(hooked(bench)) == 1, "it is not asked again"


def test_hooks_are_not_asked_about_a_call_that_waits():
    bench = paying(PreToolUse(lambda use: None), permission="ask")

    assert story(bench.run()).reason == "approval"
    assert hooked(bench) == []


async def _never(use):
    import asyncio

    await asyncio.Event().wait()


def _raises(use):
    raise ValueError("no idea")


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        (PreToolUse(_raises), "ValueError: no idea"),
        (PreToolUse(lambda use: "deny"), "it returned str, not a ToolAnswer or None"),
        (PreToolUse(_never, timeout=0.05), "no answer within 0.05 s"),
        (PreToolUse("exit 1"), "exit status 1: "),
        (PreToolUse("echo '{'"), "its output begins like JSON and is none"),
        (PreToolUse("sleep 60", timeout=0.3), "no answer within 0.3 s"),
        (PreToolUse("no-such-program-here"), "exit status 127: "),
    ],
)
def test_a_hook_that_fails_has_no_vote_and_that_is_on_record(hook, said):
    bench = paying(hook)

    assert answered(bench) == "paid 1"
    ((outcome, warning),) = hooked(bench)
    assert outcome is HookOutcome.FAILED
    assert warning.startswith(said)


def test_a_matcher_fits_a_whole_name_ours_or_the_one_that_hooks_know():
    deny = ToolAnswer(deny="no.")
    for matcher, denied in (("pay", 1), ("pa", 0), ("p.*|x", 1), ("*", 1), ("", 1), ("Bash", 0)):
        bench = paying(PreToolUse(lambda use: deny, matcher))
        assert answered(bench).startswith("Denied") == bool(denied), matcher


def test_a_command_reads_the_call_as_claude_code_says_it_and_may_block_with_exit_2(tmp_path):
    kept = tmp_path / "asked.json"
    hook = PreToolUse(f"tee {kept} >/dev/null; echo 'not this file' >&2; exit 2", "Edit|Write")
    bench = Bench(asks_for(("edit_file", {"path": "a.py"})), says("ok"), tools=[edit_file], hooks=[hook])

    assert answered(bench) == "Denied by a hook: not this file Not started."
    asked = json.loads(kept.read_text())
    assert (asked["hook_event_name"], asked["tool_name"], asked["tool_input"]) == (
        "PreToolUse",
        "Edit",
        {"file_path": "a.py"},
    )
    assert (asked["session_id"], asked["tool_use_id"]) == ("s", "call_1_0")


@pytest.mark.parametrize(
    ("printed", "answer"),
    [
        ({"decision": "block", "reason": "old way."}, "Denied by a hook: old way. Not started."),
        ({"decision": "approve"}, "edited a.py"),
        ({"continue": False, "stopReason": "stop."}, "Denied by a hook: stop. Not started."),
        ({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "new way."}}, "Denied by a"),
        ({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"file_path": "b.py"}}}, "edited b.py"),
        ({}, "edited a.py"),
    ],
)
def test_a_command_may_answer_in_json(printed, answer):
    hook = PreToolUse(f"cat >/dev/null; echo '{json.dumps(printed)}'")
    bench = Bench(asks_for(("edit_file", {"path": "a.py"})), says("ok"), tools=[edit_file], hooks=[hook])

    assert answered(bench).startswith(answer)


@pytest.mark.parametrize(
    ("hook", "text", "error"),
    [
        (PostToolUse(lambda use: ToolAnswer(add=f"{use.output}!")), "paid 1\npaid 1!", False),
        (PostToolUse(lambda use: ToolAnswer(output="hidden")), "hidden", False),
        (PostToolUse(lambda use: ToolAnswer(error="wrong account")), "paid 1\n[hook] wrong account", True),
        (PostToolUse("echo 'lint failed' >&2; exit 2"), "paid 1\n[hook] lint failed", True),
        (
            PostToolUse("""echo '{"hookSpecificOutput":{"additionalContext":"by the way"}}'"""),
            "paid 1\nby the way",
            False,
        ),
        (PostToolUse("""echo '{"decision":"block","reason":"undo it"}'"""), "paid 1\n[hook] undo it", True),
        (PostToolUse(_raises), "paid 1", False),
    ],
)
def test_after_a_call_a_hook_may_add_replace_or_flag(hook, text, error):
    bench = paying(hook)

    assert answered(bench) == text
    (result,) = story(bench.records(ToolResult))
    assert (result.status != "ok") is error
    assert result.metadata["hooks"][0]["event"] == "PostToolUse"


def test_a_hook_hears_the_whole_output_and_what_it_makes_of_it_is_bounded(tmp_path):
    heard = []

    def triple(use):
        heard.append(len(use.output))
        return ToolAnswer(output=use.output * 3)

    @tool
    async def talk() -> str:
        """Talk."""
        return "x" * (LIMIT - 1) + "\n"

    bench = Bench(
        asks_for(("talk", {})), says("ok"), tools=[talk], hooks=[PostToolUse(triple)], workspace=tmp_path, journal=None
    )
    text = answered(bench)
    (result,) = story(bench.records(ToolResult))
    kept = Path(result.metadata["full_output"])

    assert heard == [LIMIT]
    assert len(text) <= LIMIT
    assert "of 300,000 characters left out here" in text
    assert kept.parent == tmp_path / ".interlock" / "output"
    assert len(kept.read_text()) == 3 * LIMIT
    assert result.metadata["hooks"] == [{"event": "PostToolUse", "hook": "triple", "did": "replaced"}]
    assert result.metadata["truncated"]


def test_a_crash_between_a_hook_and_its_record_asks_it_again():
    from fsm.journal.memory import Fault, MemoryJournal

    asked = []
    journal = MemoryJournal([Fault.NONE, Fault.NONE, Fault.LOST])
    bench = paying(PreToolUse(lambda use: asked.append(use.call)), journal=journal)
    first = story(bench.run())

    assert first.status == "failed"
    assert asked == ["call_1_0"]
    assert PAID == []

    journal.crash()
    assert hooked(bench) == [], "its answer was lost"
    assert story(bench.resume()).text == "ok"
    assert asked == ["call_1_0", "call_1_0"]
    assert hooked(bench) == [(HookOutcome.PASSED, "")]
    assert PAID == [1]
    assert audit(GRAPH, story(journal.read("s")), "s") == []


def test_a_crash_after_the_record_of_a_hook_does_not_ask_it_again():
    from fsm.journal.memory import Fault, MemoryJournal

    asked = []
    journal = MemoryJournal([Fault.NONE, Fault.NONE, Fault.KEPT])
    bench = paying(PreToolUse(lambda use: asked.append(use.call)), journal=journal)

    assert story(bench.run()).status == "failed"
    assert PAID == []
    journal.crash()
    assert story(bench.resume()).text == "ok"
    assert (asked, PAID) == (["call_1_0"], [1])


class Secretive(Scripted):
    secrets = ("the-second-secret",)


def test_a_command_does_not_get_the_secrets_of_any_provider(monkeypatch, tmp_path):
    monkeypatch.setenv("SECOND_KEY", "the-second-secret")
    monkeypatch.setenv("HARMLESS", "harmless")
    kept = tmp_path / "environment"
    turns = (asks_for(("pay", {"account": 1})), says("ok"))
    hook = PreToolUse(f"cat >/dev/null; env >{kept}")
    bench = Bench(provider=[Scripted(turns), Secretive(())], tools=[pay], hooks=[hook])

    assert story(bench.run()).text == "ok"
    seen = kept.read_text()
    assert "harmless" in seen
    assert "the-second-secret" not in seen


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: PreToolUse("x", "("), "the matcher '\\(' is no regular expression"),
        (lambda: PreToolUse("x", timeout=0), "a timeout of 0 seconds"),
        (lambda: PostToolUse(" "), "an empty command"),
        (lambda: Bench(hooks=["echo"]), "'echo' is no hook"),
    ],
)
def test_a_hook_that_could_not_work_is_refused(make, named):
    with pytest.raises(ConfigError, match=named):
        make()
