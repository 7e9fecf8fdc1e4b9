"""Rules and approvals on a whole run: what starts, what waits, what is remembered, and what is on record."""

import attrs
import pytest
from support.bench import Bench, story

from fsm import ApprovalAnswer, Rules
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.providers.scripted import asks_for, says
from fsm.tools import tool
from states.errors import ConfigError
from states.records import Approval, ApprovalAsked, PermissionChange, RunStarted, ToolIntent

PAID = []


@tool
async def pay(account: int) -> str:
    """Pay."""
    PAID.append(account)
    return f"paid {account}"


@tool(read_only=lambda arguments: arguments["verb"] == "get")
async def fetch(verb: str) -> str:
    """Fetch."""
    return verb


@pytest.fixture(autouse=True)
def nothing_paid():
    PAID.clear()


def paying(*accounts, **options):
    calls = [("pay", {"account": account}) for account in accounts]
    return Bench(asks_for(*calls), says("ok"), tools=[pay, fetch], **options)


def test_a_rule_denies_also_under_full_and_the_model_reads_which():
    bench = paying(1, 2, rules=Rules(deny=["pay(account=2)"]))

    assert story(bench.run()).text == "ok"
    assert PAID == [1]
    assert [answer.text for answer in bench.answers()] == ["paid 1", "Denied: deny pay(account=2). Not started."]


def test_a_rule_asks_also_under_full():
    bench = paying(1, rules={"ask": ["pay"]})

    assert story(bench.run()).reason == "approval"
    (asked,) = story(bench.records(ApprovalAsked))
    assert asked.why == "ask pay"
    assert story(bench.resume(approve=["call_1_0"])).text == "ok"
    assert PAID == [1]


def test_a_rule_allows_what_would_be_asked_and_the_intent_says_so():
    bench = paying(1, permission="ask", rules=Rules(allow=["pay(account=1)"]))

    assert story(bench.run()).text == "ok"
    (intent,) = story(bench.records(ToolIntent))
    assert (intent.leave, intent.read_only) == ("allow pay(account=1)", False)
    assert audit(GRAPH, story(bench.journal.read("s")), "s") == []


def test_a_session_keeps_the_rules_that_it_began_with():
    bench = paying(1, permission="ask", rules=Rules(deny=["pay"]))
    story(bench.run())
    later = Bench(asks_for(("pay", {"account": 3})), says("ok"), journal=bench.journal, tools=[pay], rules=Rules())

    assert story(later.resume("again")).text == "ok"
    assert PAID == []
    assert [started.rules for started in story(later.records(RunStarted))] == [Rules(deny=("pay",))] * 2


def test_rules_are_added_by_a_resume_on_record():
    bench = paying(1, permission="ask")
    story(bench.run())

    assert story(bench.resume(rules=Rules(allow=["pay"]))).text == "ok", "what waited is allowed now"
    assert PAID == [1]
    assert [change.rules for change in story(bench.records(PermissionChange))] == [Rules(allow=("pay",))]
    assert story(bench.history()).rules == Rules(allow=("pay",))


def test_what_is_remembered_runs_unasked_for_the_rest_of_the_session():
    calls = asks_for(("pay", {"account": 1}))
    bench = Bench(calls, calls, says("ok"), tools=[pay], permission="ask")
    story(bench.run())

    assert story(bench.resume(approve=["call_1_0"], remember=True)).text == "ok"
    assert PAID == [1, 1]
    assert audit(GRAPH, story(bench.journal.read("s")), "s") == []


def test_only_what_is_approved_can_be_remembered():
    bench = paying(1, permission="ask")
    story(bench.run())

    with pytest.raises(ConfigError, match="not approved"):
        story(bench.resume(deny=["call_1_0"], remember=["call_1_0"]))


@pytest.mark.parametrize(
    ("answer", "paid", "said"),
    [
        (True, [1], "paid 1"),
        (False, [], "Denied: a person refused this call; it was not started."),
        (ApprovalAnswer(False, "too much"), [], "They said: too much"),
        (ApprovalAnswer(True, remember=True), [1], "paid 1"),
    ],
)
def test_a_host_answers_while_the_run_goes_on(answer, paid, said):
    asked = []

    async def on_approval(request):
        asked.append((request.session, request.call, request.name, dict(request.arguments), request.why))
        return answer

    bench = paying(1, permission="ask", on_approval=on_approval)

    assert story(bench.run()).text == "ok"
    assert asked == [("s", "call_1_0", "pay", {"account": 1}, "permission ask")]
    assert paid == PAID
    assert bench.answers()[0].text.endswith(said)
    assert len(story(bench.records(Approval))) == 1
    assert audit(GRAPH, story(bench.journal.read("s")), "s") == []


def test_a_question_is_durable_before_the_host_is_asked():
    seen = []

    async def on_approval(request):
        seen.append([type(entry.record) for entry in await bench.journal.read("s")][-1])

    bench = paying(1, permission="ask", on_approval=on_approval)

    assert story(bench.run()).reason == "approval", "left open"
    assert seen == [ApprovalAsked]


def test_a_host_that_raises_has_answered_nothing():
    def on_approval(request):
        raise ValueError("no idea")

    bench = paying(1, permission="ask", on_approval=on_approval)

    assert story(bench.run()).reason == "approval"
    assert PAID == []


def test_a_host_that_answers_only_some_leaves_the_turn_waiting():
    bench = paying(1, 2, permission="ask", on_approval=lambda request: True if request.call == "call_1_0" else None)

    assert story(bench.run()).reason == "approval"
    assert PAID == []
    assert story(bench.resume(deny=["call_1_1"])).text == "ok"
    assert PAID == [1]


def test_a_call_that_its_tool_says_only_reads_runs_unasked():
    bench = Bench(asks_for(("fetch", {"verb": "get"})), says("ok"), tools=[fetch], permission="ask")

    assert story(bench.run()).text == "ok"
    (intent,) = story(bench.records(ToolIntent))
    assert (intent.read_only, intent.leave) == (True, "it only reads")
    changing = Bench(asks_for(("fetch", {"verb": "put"})), says("ok"), tools=[fetch], permission="plan")
    story(changing.run())
    assert changing.answers()[0].text == "Denied: only read-only tools may run while planning. Not started."


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        (Rules(deny=["pai"]), "'pai' is about no known tool"),
        ({"forbid": ["pay"]}, "unknown kind of rules 'forbid'"),
        ({"deny": "pay"}, "a list of rules"),
        (Rules(allow=["pay("]), "is no rule"),
    ],
)
def test_rules_that_would_do_nothing_are_refused(rules, named):
    with pytest.raises(ConfigError, match=named.replace("(", r"\(")):
        Bench(tools=[pay], rules=rules)


def test_an_audit_sees_a_start_that_a_rule_denies():
    bench = paying(1)
    story(bench.run())
    entries = story(bench.journal.read("s"))
    forged = [
        type(entry)(entry.seq, entry.at, entry.fence, attrs.evolve(entry.record, rules=Rules(deny=("pay",))))
        if isinstance(entry.record, RunStarted)
        else entry
        for entry in entries
    ]

    assert any("against: deny pay" in finding for finding in audit(GRAPH, forged, "s"))
