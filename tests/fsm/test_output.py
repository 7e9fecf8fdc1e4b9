"""A run that owes a structured output: what counts as one, what drops it, and what a caller gets."""

import asyncio
import dataclasses
from typing import TypedDict

import attrs
import orjson
import pytest
from support.bench import Bench
from support.past import Past

from fsm import Budget, Contract, Loop, RunStatus, default_graph, events, table, tool
from fsm.audit import audit
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import Scripted, asks_for, says
from gates.output_accepted import STALE
from gates.output_schema import LARGEST_OUTPUT
from states.errors import ConfigError
from states.messages import Finish, Text
from states.output import schema_digest
from states.ports import ProviderTrouble, Reply
from states.records import Finalized, OutputAccepted, RunStarted, Status, ToolResult, Trouble
from states.verdicts import WaitsFor

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@attrs.frozen
class Count:
    n: int = attrs.field(validator=attrs.validators.ge(0))


@dataclasses.dataclass
class Data:
    n: int


class Typed(TypedDict):
    n: int


class Files:
    """A workspace that `write` changes."""

    def __init__(self):
        self.number = 1

    async def revision(self):
        return f"r{self.number}"

    def tool(self):
        @tool
        async def change() -> str:
            """Change the workspace."""
            self.number += 1
            return "changed"

        return change


def hands_in(**value):
    return asks_for(("structured_output", value))


def cut(text="so far"):
    return Reply((Text(text),), Finish.LENGTH)


def story(*turns, provider=None, files=None, output=SCHEMA, journal=None, **options):
    """One run: the bench and the result. What the journal holds must follow from itself."""

    async def run():
        tools = [files.tool()] if files else []
        bench = Bench(
            *turns, provider=provider, tools=tools, workspace=files, output=output, journal=journal, **options
        )
        result = await bench.run()
        assert audit(bench.loop.graph, await bench.journal.read("s"), "s") == []
        bench.entries = await bench.journal.read("s")
        return bench, result

    return asyncio.run(run())


def kept(bench, kind):
    return [entry.record for entry in bench.entries if isinstance(entry.record, kind)]


# --- what a caller gets -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "value"), [(Count, Count(3)), (Data, Data(3)), (Typed, {"n": 3}), (SCHEMA, {"n": 3})], ids=str
)
def test_the_output_is_what_the_loop_was_asked_for(output, value):
    bench, result = story(hands_in(n=3), output=output)

    assert (result.status, result.reason, result.output, result.text) == (
        RunStatus.SUCCEEDED,
        "finished",
        value,
        '{"n":3}',
    )
    assert type(result.output) is type(value)
    assert bench.seen(events.RunEnd)[-1].result == result


def test_a_call_that_is_accepted_ends_the_run_without_another_turn_and_costs_no_tool_call():
    bench, result = story(hands_in(n=3), budget=Budget(max_turns=1, max_tool_calls=1))

    assert (result.turns, result.tool_calls) == (1, 0)
    (accepted,) = kept(bench, OutputAccepted)
    assert accepted == OutputAccepted("call_1_0", schema_digest(orjson.dumps(SCHEMA)), '{"n":3}')
    seq = next(entry.seq for entry in bench.entries if entry.record == accepted)
    assert seq in result.receipt.evidence
    assert kept(bench, Finalized)[0].text == '{"n":3}'


def test_without_an_output_asked_for_there_is_none_and_no_such_tool():
    bench, result = story(hands_in(n=3), says("done"), output=None)

    assert (result.output, result.text) == (None, "done")
    assert "there is no tool 'structured_output'" in bench.answers()[0].text


def test_the_tool_is_offered_with_the_schema_and_the_run_is_told_how_its_result_is_handed_in():
    bench, _ = story(hands_in(n=3))

    (request,) = bench.provider.requests
    spec = request.tools[-1]
    assert (spec.name, spec.parameters) == ("structured_output", SCHEMA)
    assert "structured_output" in request.system
    assert "structured_output" in kept(bench, RunStarted)[0].tool_names


def test_an_output_is_published_only_after_the_final_commit():
    owes_more = Contract(commands=["make"])
    bench, result = story(hands_in(n=3), contract=owes_more, files=Files(), budget=Budget(max_turns=1))

    assert (result.status, result.reason, result.output) == (RunStatus.SUSPENDED, WaitsFor.BUDGET, None)
    assert len(kept(bench, OutputAccepted)) == 1


# --- what does not count ----------------------------------------------------------------------------------------


def test_json_in_prose_is_no_output_and_the_next_turn_has_to_call_the_tool():
    bench, result = story(says('{"n": 3}'), hands_in(n=4))

    assert result.output == {"n": 4}
    assert [request.require_tool for request in bench.provider.requests] == [None, "structured_output"]
    assert "JSON in a message does not count" in bench.asked()[-1].text


def test_what_does_not_fit_is_refused_with_its_path():
    bench, result = story(hands_in(n="three"), hands_in(n=3))

    assert result.output == {"n": 3}
    assert "n: expected integer, got string" in bench.answers()[0].text


def test_what_the_class_itself_refuses_goes_back_to_the_model():
    bench, result = story(hands_in(n=-1), hands_in(n=3), output=Count)

    assert result.output == Count(3)
    assert "must be >= 0" in bench.answers()[0].text


def test_an_output_that_is_too_large_is_refused_and_the_limit_is_named():
    schema = {"type": "object"}
    bench, result = story(hands_in(x="y" * LARGEST_OUTPUT), hands_in(x="z"), output=schema)

    assert result.output == {"x": "z"}
    assert f"at most {LARGEST_OUTPUT}" in bench.answers()[0].text


BAD, PROSE = hands_in(n="x"), says('{"n": 3}')


@pytest.mark.parametrize("turns", [[BAD] * 3, [PROSE] * 3, [BAD, PROSE, BAD], [PROSE, BAD, PROSE]])
def test_corrections_are_shared_and_the_third_fault_fails_the_run(turns):
    _, result = story(*turns, hands_in(n=3))

    assert (result.status, result.reason, result.turns) == (RunStatus.FAILED, "structured_output_failed", 3)
    assert result.output is None


@pytest.mark.parametrize("turns", [[BAD] * 2, [PROSE] * 2, [BAD, PROSE]])
def test_two_faults_are_corrected(turns):
    assert story(*turns, hands_in(n=3))[1].output == {"n": 3}


def test_a_crash_does_not_refill_the_corrections():
    async def run():
        bench = Bench(BAD, PROSE, ProviderTrouble(Trouble.DOWN, "away"), output=SCHEMA)
        first = await bench.run()
        bench.journal.crash()
        again = Loop(provider=Scripted([PROSE]), journal=bench.journal, output=SCHEMA)
        return first, await again.resume("s")

    first, second = asyncio.run(run())
    assert first.status is RunStatus.SUSPENDED
    assert (second.reason, second.turns) == ("structured_output_failed", 3)


# --- turns with more in them ------------------------------------------------------------------------------------


def test_of_two_calls_in_one_turn_the_first_stands():
    bench, result = story(asks_for(("structured_output", {"n": 1}), ("structured_output", {"n": 2})))

    assert (result.output, result.turns) == ({"n": 1}, 1)
    assert [record.status for record in kept(bench, ToolResult)] == [Status.OK, Status.ERROR]


def test_beside_other_calls_it_stands_and_the_model_sees_their_results_first():
    bench, result = story(asks_for(("structured_output", {"n": 1}), ("look", {"key": "a"})), says("That is all."))

    assert (result.output, result.text, result.turns) == ({"n": 1}, '{"n":1}', 2)
    assert [answer.text for answer in bench.answers()][1] == "seen a"


def test_a_later_turn_may_hand_in_another_one():
    _, result = story(asks_for(("structured_output", {"n": 1}), ("look", {})), hands_in(n=2))

    assert result.output == {"n": 2}


def test_a_later_call_that_does_not_fit_takes_back_what_stood():
    bench, result = story(
        asks_for(("structured_output", {"n": 1}), ("look", {})), hands_in(n="x"), says("done"), hands_in(n=3)
    )

    assert result.output == {"n": 3}
    assert bench.provider.requests[3].require_tool == "structured_output"


def test_words_may_be_empty_once_the_output_is_handed_in():
    assert story(asks_for(("structured_output", {"n": 1}), ("look", {})), says(" "))[1].output == {"n": 1}


def test_words_beside_the_call_announce_nothing():
    _, result = story(asks_for(("structured_output", {"n": 1}), text="Let me submit the result:"))

    assert (result.output, result.turns) == ({"n": 1}, 1)


def test_a_call_that_was_cut_off_is_not_taken():
    whole = hands_in(n=1)
    bench, result = story(attrs.evolve(whole, finish=Finish.LENGTH), hands_in(n=2))

    assert result.output == {"n": 2}
    assert len(kept(bench, OutputAccepted)) == 1


def test_turns_that_are_cut_off_fail_the_run_unless_an_output_stands():
    lone = story(*[cut()] * 4)[1]
    _, stands = story(asks_for(("structured_output", {"n": 1}), ("look", {})), *[cut()] * 4)

    assert (lone.status, lone.reason) == (RunStatus.FAILED, "truncated")
    assert (stands.status, stands.output, stands.turns) == (RunStatus.SUCCEEDED, {"n": 1}, 5)


def test_an_output_beside_a_cut_turn_still_passes_every_gate():
    _, result = story(
        asks_for(("structured_output", {"n": 1}), ("look", {})),
        *[cut()] * 4,
        *[says("no check")] * 6,
        contract=Contract(commands=["make"]),
        files=Files(),
    )

    assert (result.reason, result.output) == ("verification_failed", None)


# --- what drops it ----------------------------------------------------------------------------------------------


class Steered(Scripted):
    """Somebody says something while the turn `when` is being given."""

    def __init__(self, turns, when, journal):
        super().__init__(turns)
        self.when, self.journal = when, journal

    async def stream(self, request):
        if len(self.requests) + 1 == self.when:
            await self.journal.post("s", "and another thing")
        async for item in super().stream(request):
            yield item


def test_a_newer_input_drops_the_output_and_refills_the_corrections():
    journal = MemoryJournal()
    turns = [BAD, BAD, hands_in(n=1), PROSE, BAD, hands_in(n=2)]
    _, result = story(provider=Steered(turns, 3, journal), journal=journal)

    assert (result.output, result.turns) == ({"n": 2}, 6)


def test_a_change_of_the_workspace_after_it_drops_the_output():
    bench, result = story(
        asks_for(("structured_output", {"n": 1}), ("change", {})), says("done"), hands_in(n=2), files=Files()
    )

    assert (result.output, result.turns, result.receipt.revision) == ({"n": 2}, 3, "r2")
    assert bench.asked()[-1].text == STALE


def test_a_change_before_it_in_the_same_turn_does_not():
    _, result = story(asks_for(("change", {}), ("structured_output", {"n": 1})), says("done"), files=Files())

    assert (result.output, result.turns) == ({"n": 1}, 2)


@pytest.mark.parametrize("state", ["verify", "finalize"])
def test_a_change_from_outside_while_it_is_judged_is_found_by_the_receipt(state):
    async def run():
        files = Files()
        bench = Bench(hands_in(n=1), hands_in(n=2), hands_in(n=3), workspace=files, output=SCHEMA)
        seen = files.revision

        async def revision():
            driver = bench.loop._drivers.get("s")
            if driver and driver.history.state == state and files.number == 1:
                files.number = 2
            return await seen()

        files.revision = revision
        return await bench.run()

    result = asyncio.run(run())
    assert result.output != {"n": 1}
    assert (result.status, result.receipt.revision) == (RunStatus.SUCCEEDED, "r2")


# --- another process --------------------------------------------------------------------------------------------


def lost(*turns, **options):
    """A run that handed in {"n": 1} and was lost while its command was missing; then resumed with `turns`."""

    async def run():
        bench = Bench(asks_for(("structured_output", {"n": 1}), ("hang", {})), output=SCHEMA)
        await bench.lost_at(bench.ledger.started)
        provider = Scripted(turns)
        message = options.pop("message", None)
        loop = Loop(**{"provider": provider, "journal": bench.journal, "tools": bench.ledger.tools(), **options})
        result = await loop.resume("s", message)
        assert audit(loop.graph, await bench.journal.read("s"), "s") == []
        return result

    return asyncio.run(run())


@pytest.mark.parametrize(("output", "value"), [(SCHEMA, {"n": 1}), (None, {"n": 1}), (Count, Count(1))], ids=str)
def test_another_process_takes_an_accepted_output_over(output, value):
    result = lost(says("done"), output=output)

    assert (result.status, result.output) == (RunStatus.SUCCEEDED, value)


def test_with_newer_words_it_counts_no_more():
    result = lost(says("done"), hands_in(n=2), output=SCHEMA, message="count again")

    assert result.output == {"n": 2}


def test_a_run_that_owes_another_output_is_not_resumed():
    with pytest.raises(ConfigError, match="resume it with that one"):
        lost(says("done"), output={"type": "object", "properties": {"m": {"type": "integer"}}})


def test_a_next_run_owes_what_its_own_loop_says():
    async def run():
        bench = Bench(hands_in(n=1), output=SCHEMA)
        await bench.run()
        plain = Loop(provider=Scripted([says("no output")]), journal=bench.journal)
        return await plain.resume("s", "just talk")

    result = asyncio.run(run())
    assert (result.text, result.output) == ("no output", None)


# --- wrong input ------------------------------------------------------------------------------------------------


@tool
async def structured_output(n: int) -> str:
    """Somebody else's."""
    return str(n)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tools": [structured_output]}, "the name of Interlock's own; rename yours"),
        ({"output": list}, "no JSON Schema|root must say"),
        ({"output": 3}, "give an attrs class, a dataclass, a TypedDict, or a JSON Schema"),
        ({"output": {"type": "array"}}, "its root must say"),
        ({"output": SCHEMA, "contract": Contract(output_schema={"type": "object"})}, "two different schemas"),
        ({"output": SCHEMA, "graph": table(at_candidate=())}, "no gate 'output_accepted'"),
        ({"output": {"type": "object", "x": {1, 2}}}, "is no JSON"),
    ],
)
def test_what_will_not_do_is_named_with_the_way_out(options, said):
    with pytest.raises(ConfigError, match=said):
        Loop(**{"provider": Scripted([]), "journal": ":memory:", **options})


def test_a_contract_can_name_the_schema_as_well():
    assert story(hands_in(n=1), output=None, contract=Contract(output_schema=SCHEMA))[1].output == {"n": 1}


# --- the gate ---------------------------------------------------------------------------------------------------


def test_a_table_with_a_gate_of_ones_own_keeps_asking_for_the_output():
    assert "output_accepted" in [gate.name for gate in default_graph().gates_of("candidate_final")]


def test_the_fold_refuses_an_output_of_another_schema_and_one_that_the_model_did_not_hand_in():
    from states.errors import HistoryError

    def handed_in():
        past = Past(contract=Contract(output_schema=SCHEMA))
        past.calls("structured_output").move().intents().move()
        (state,) = past.history.open_calls()
        return past.result(state.call.id), state.call.id

    digest = schema_digest(orjson.dumps(SCHEMA))
    for record, why in [
        (lambda call: OutputAccepted(call, "other", "{}"), "another schema"),
        (lambda call: OutputAccepted(call, digest, '{"n":1}'), "did not hand in"),
        (lambda call: OutputAccepted("call_9_9", digest, "{}"), "hands in no output"),
    ]:
        past, call = handed_in()
        with pytest.raises(HistoryError, match=why):
            past.add(record(call))
    past, call = handed_in()
    past.add(OutputAccepted(call, digest, "{}"))
    with pytest.raises(HistoryError, match="a second output of one turn"):
        past.add(OutputAccepted(call, digest, "{}"))
    assert "does not fit" in " ".join(audit(default_graph(), _with_graph(past.entries)))


def _with_graph(entries):
    from fsm.digests import graph_digest

    return [
        attrs.evolve(entry, record=attrs.evolve(entry.record, graph=graph_digest(default_graph())))
        if isinstance(entry.record, RunStarted)
        else entry
        for entry in entries
    ]
