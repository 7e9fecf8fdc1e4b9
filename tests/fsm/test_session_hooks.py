"""Hooks about what a person says and about sessions: what they refuse, add, and leave on record."""

import asyncio
import json

import pytest
from support.bench import Bench, story

from fsm import Agent
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.hooks import PromptRefused, SessionEnd, SessionStart, UserPromptSubmit, Words
from fsm.hooks.settings import read_hooks
from fsm.providers.scripted import Scripted, asks_for, says
from states.errors import HistoryError, UnknownSession
from states.fold import apply
from states.messages import UserMessage
from states.records import Entry, HookOutcome, HookResult, UserInput


def heard(bench):
    return [(said.event, said.outcome, said.said) for said in story(bench.records(HookResult))]


def asked(bench, number=-1):
    return [message.text for message in bench.asked(number) if isinstance(message, UserMessage)]


def refuse(moment):
    return Words(deny="no secrets") if "secret" in moment.about else None


def test_words_that_a_hook_refuses_reach_nobody_and_leave_nothing():
    bench = Bench(says("ok"), says("more"), hooks=[UserPromptSubmit(refuse)])

    with pytest.raises(PromptRefused, match="the hook refuse does not let this pass: no secrets"):
        story(bench.run("my secret"))
    with pytest.raises(UnknownSession):
        story(bench.journal.read("s"))
    assert bench.provider.requests == []

    story(bench.run("go"))
    before = len(story(bench.journal.read("s")))
    for said in (bench.resume("a secret"), bench.loop.steer("s", "a secret"), bench.loop.follow_up("s", "a secret")):
        with pytest.raises(PromptRefused):
            story(said)
    assert len(story(bench.journal.read("s"))) == before
    assert story(bench.journal.notes("s", 0)) == []
    assert story(bench.journal.queued("s", 0)) == []


def test_what_hooks_add_is_told_with_the_words_and_asks_for_nothing():
    """What a hook says is no request of the person's: "run the tests" owes no test."""

    async def ticket(moment):
        return Words(add=f"Ticket 7 belongs to it. Run the tests. ({moment.about})")

    hooks = [SessionStart(lambda moment: Words(add=f"Begun by {moment.about}.")), UserPromptSubmit(ticket)]
    bench = Bench(says("ok"), hooks=hooks)
    result = story(bench.run())

    block = "<hook-context>\nBegun by startup.\nTicket 7 belongs to it. Run the tests. (go)\n</hook-context>"
    assert asked(bench) == [f"{block}\n\ngo"]
    (record,) = story(bench.records(UserInput))
    assert (record.text, record.context) == ("go", block)
    assert story(bench.history()).owed == ()
    assert result.succeeded
    assert [event for event, _, _ in heard(bench)] == ["SessionStart", "UserPromptSubmit"]
    assert audit(GRAPH, story(bench.journal.read("s")), "s") == []


def test_a_session_that_is_taken_up_and_left_is_told_of():
    moments = []
    hooks = [
        SessionStart(lambda moment: moments.append(("start", moment.about))),
        SessionStart(lambda moment: moments.append(("only new", moment.about)), "startup"),
        SessionEnd(lambda moment: moments.append(("end", moment.about))),
    ]
    bench = Bench(says("one"), says("two"), hooks=hooks)
    story(bench.run())
    story(bench.resume("more"))

    assert moments == [
        *[("start", "startup"), ("only new", "startup"), ("end", "finished")],
        *[("start", "resume"), ("end", "finished")],
    ]
    assert audit(GRAPH, story(bench.journal.read("s")), "s") == []
    assert story(bench.history()).state == "succeeded"


def test_a_resting_run_goes_on_over_what_hooks_said_of_its_end():
    ends = []
    bench = Bench(
        asks_for(("write", {})), says("ok"), permission="ask", hooks=[SessionEnd(lambda m: ends.append(m.about))]
    )
    story(bench.run())
    result = story(bench.resume(approve=["call_1_0"]))

    assert ends == ["approval", "finished"]
    assert result.succeeded
    assert audit(GRAPH, story(bench.journal.read("s")), "s") == []


def test_a_hook_that_fails_has_no_vote_and_that_is_on_record():
    def broken(moment):
        raise RuntimeError("boom")

    bench = Bench(says("ok"), hooks=[UserPromptSubmit(broken), SessionEnd(lambda moment: "yes")])
    assert story(bench.run()).succeeded
    assert heard(bench) == [
        ("UserPromptSubmit", HookOutcome.FAILED, "RuntimeError: boom"),
        ("SessionEnd", HookOutcome.FAILED, "it returned str, not a Words or None"),
    ]
    assert asked(bench) == ["go"]


def test_the_first_that_refuses_is_the_last_that_is_asked_and_an_agent_is_not_a_person():
    seen = []
    helper = Scripted([says("found")])
    turns = [asks_for(("task", {"agent": "scout", "prompt": "a secret"})), says("ok")]
    hooks = [UserPromptSubmit(refuse), UserPromptSubmit(lambda moment: seen.append(moment.about))]
    bench = Bench(*turns, hooks=hooks, agents=[Agent("scout", "Looks.", "You look.", provider=helper)])

    with pytest.raises(PromptRefused):
        story(bench.run("secret"))
    assert story(bench.run("go")).succeeded
    assert seen == ["go"]


COMMANDS = {
    "UserPromptSubmit": [
        {"hooks": [{"type": "command", "command": "cat > asked.json; echo Ticket 7."}]},
        {"hooks": [{"type": "command", "command": "grep -q secret && { echo no secrets >&2; exit 2; }; exit 0"}]},
    ],
    "SessionStart": [
        {
            "matcher": "startup",
            "hooks": [
                {
                    "type": "command",
                    "command": 'echo \'{"hookSpecificOutput": {"hookEventName": "SessionStart", '
                    '"additionalContext": "Begun."}}\'',
                }
            ],
        }
    ],
    "SessionEnd": [{"matcher": "finished", "hooks": [{"type": "command", "command": "cat > ended.json"}]}],
}


def test_commands_are_spoken_to_as_claude_code_does_it(tmp_path):
    bench = Bench(says("ok"), workspace=tmp_path, hooks=read_hooks(COMMANDS, "here"))
    with pytest.raises(PromptRefused, match="no secrets"):
        story(bench.run("a secret"))
    story(bench.run("go"))

    told = json.loads((tmp_path / "asked.json").read_text())
    assert told == {
        "session_id": "s",
        "transcript_path": "",
        "cwd": str(tmp_path.resolve()),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "go",
    }
    assert json.loads((tmp_path / "ended.json").read_text())["reason"] == "finished"
    assert asked(bench) == ["<hook-context>\nBegun.\nTicket 7.\n</hook-context>\n\ngo"]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (HookResult("call_1_0", "SessionStart", "h", HookOutcome.PASSED), "a SessionStart hook about a call"),
        (HookResult("", "UserPromptSubmit", "h", HookOutcome.DENIED, "no"), "words that a hook denied"),
    ],
)
def test_the_fold_refuses_what_no_such_hook_can_say(record, why):
    bench = Bench(says("ok"))
    asyncio.run(bench.run())
    history = asyncio.run(bench.history())

    with pytest.raises(HistoryError, match=why):
        apply(history, Entry(history.seq + 1, history.at, history.fence, record))
