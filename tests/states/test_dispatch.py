"""Arguments are taken exactly as they were sent, or not at all."""

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from support.bench import Bench, story
from support.past import Past

from fsm.providers.scripted import asks_for, says
from fsm.tools import Tools, tool
from gates.permission import permit
from states.ahead import Ahead
from states.contract import Permission
from states.dispatch_tools import act, canonical, parse
from states.messages import Call
from states.records import Approval, ApprovalAsked, Dispatch, PermissionChange, Status, ToolIntent, ToolResult

REFUSED = {
    "a name twice": ('{"account": 1, "account": 2}', "a name stands twice"),
    "a name twice, spelled in two ways": ('{"account": 1, "\\u0061ccount": 2}', "a name stands twice"),
    "a name twice, further in": ('{"account": [{"a": 1, "a": 1}]}', "a name stands twice"),
    "a number beyond 64 bits": ('{"account": 123456789012345678901}', "beyond 64 bits; send it as a string"),
    "the first number beyond 64 bits": ('{"account": 9223372036854775808}', "beyond 64 bits"),
    "the first negative number beyond 64 bits": ('{"account": -9223372036854775809}', "beyond 64 bits"),
    "a number of a million digits": ('{"account": ' + "9" * 10**6 + "}", "beyond 64 bits"),
    "not a number": ('{"account": NaN}', "NaN is no JSON"),
    "infinity": ('{"account": Infinity}', "Infinity is no JSON"),
    "negative infinity": ('{"account": -Infinity}', "-Infinity is no JSON"),
    "a hundred thousand levels": ('{"account": ' + "[" * 10**5 + "]" * 10**5 + "}", "nested too deeply"),
    "a hundred thousand levels of objects": ('{"a":' * 10**5 + "1" + "}" * 10**5, "nested too deeply"),
    "half of it": ('{"account": 1', ""),
    "two of them": ('{"account": 1} {"account": 2}', ""),
    "a comma too many": ('{"account": 1,}', ""),
    "single quotes": ("{'account': 1}", ""),
}


@tool
async def pay(account: int = 0) -> str:
    """Pay."""
    return "paid"


def dispatched(past):
    """What the activity leaves for the calls that are open."""
    run = SimpleNamespace(
        history=past.history,
        tools=Tools([pay]),
        permit=partial(permit, past.history),
        answers_at_once=False,
        hooked=lambda name: False,
        ahead=Ahead(),
    )
    *decided, last = asyncio.run(act(run)).records
    assert last == Dispatch(past.history.turn_seq)
    return decided


def called(arguments):
    return Past().turn(Call("call_1_0", "pay", arguments)).move()


@pytest.mark.parametrize("case", REFUSED)
def test_arguments_that_cannot_be_taken_as_sent_start_nothing(case):
    sent, why = REFUSED[case]
    (answer,) = dispatched(called(sent))

    assert isinstance(answer, ToolResult)
    assert answer.status is Status.ERROR
    assert answer.output.startswith("Error: the arguments are no JSON (")
    assert answer.output.endswith("Not started.")
    assert why in answer.output
    assert len(answer.output) < 500


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ("", {}),
        (" \n", {}),
        ('{"account": 9223372036854775807}', {"account": 2**63 - 1}),
        ('{"account": -999999999999999999}', {"account": -(10**18) + 1}),
        ('{"a": {"b": 1}, "c": {"b": 1}}', {"a": {"b": 1}, "c": {"b": 1}}),
        ('{"a": 0.1}', {"a": 0.1}),
        ('{"a": true, "b": null}', {"a": True, "b": None}),
        ("[1]", [1]),
    ],
)
def test_what_can_be_taken_is_taken_as_sent(sent, value):
    assert parse(sent) == value
    assert parse(canonical(value)) == value


def test_an_intent_has_the_canonical_arguments():
    (intent,) = dispatched(called('{ "account" : 7 }'))

    assert intent == ToolIntent("call_1_0", "pay", '{"account":7}', 0, leave="permission full")


@pytest.mark.parametrize("permission", Permission)
def test_a_refused_call_is_denied_whatever_the_permission_is_now(permission):
    past = called("{}").add(ApprovalAsked("call_1_0", "pay", "{}"), Approval("call_1_0", granted=False, reason="no!"))
    (answer,) = dispatched(past.add(PermissionChange(permission)))

    assert (answer.call, answer.status) == ("call_1_0", Status.DENIED)
    assert answer.output.endswith("They said: no!")


def test_an_approval_does_not_reach_beyond_a_change_to_planning():
    past = called("{}").add(ApprovalAsked("call_1_0", "pay", "{}"), Approval("call_1_0", granted=True))
    (answer,) = dispatched(past.add(PermissionChange(Permission.PLAN)))

    assert answer.status is Status.DENIED


@pytest.mark.parametrize(
    "arguments",
    [
        '{"account": 1e400}',
        '{"account": "\\ud800"}',
        '{"account": ' + "[" * 300 + "]" * 300 + "}",
        '{"account": ' + "[" * 900 + "]" * 900 + "}",
    ],
    ids=["a fraction beyond every number", "half a surrogate pair", "300 levels", "900 levels"],
)
def test_arguments_that_the_journal_cannot_hold_start_nothing(arguments):
    @tool
    async def pay(account: Any = 0) -> str:
        """Pay."""
        return "paid"

    bench = Bench(asks_for(("pay", arguments)), says("ok"), tools=[pay])

    assert story(bench.run()).text == "ok"
    assert "Not started." in bench.answers()[0].text


@pytest.mark.parametrize("number", [-(2**63), -(2**63) + 1])
def test_a_negative_number_of_64_bits_is_taken(number):
    assert parse(f'{{"a": {number}}}') == {"a": number}
