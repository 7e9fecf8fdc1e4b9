"""What a run may spend: each limit, what it says, how it goes on, and where things stand when it is out."""

import asyncio

import attrs
import pytest
from support.bench import Bench

from fsm import Budget, Loop, RunStatus
from fsm.audit import audit
from fsm.providers.prices import Price
from fsm.providers.scripted import Scripted, asks_for, says
from fsm.standing import ASK
from states.errors import ConfigError
from states.messages import ToolMessage, Usage
from states.ports import ProviderTrouble
from states.records import AssistantTurn, Summary, Suspended, Trouble
from states.verdicts import WaitsFor

PRICES = {"scripted": Price(1.0, 0.5, 2.0)}
"""A scripted turn of 10 input and 5 output tokens costs 20 millionths of a dollar."""
TURN = 20e-6
LOOK = asks_for(("look", {"key": "a"}))


def thinks(turn, reasoning=3):
    return attrs.evolve(turn, usage=Usage(10, 5, 0, reasoning))


def story(*turns, resumed=None, **options):
    """One run; with `resumed`, another that is resumed with more. The bench and the last result."""

    async def run():
        bench = Bench(*turns, **options)
        result = await bench.run()
        if resumed is not None:
            result = await bench.resume(budget=resumed)
        entries = await bench.journal.read("s")
        assert audit(bench.loop.graph, entries, "s") == []
        bench.entries = [entry.record for entry in entries]
        return bench, result

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(max_turns=2), "2 of 2 turns"),
        (Budget(tokens=30), "30 of 30 tokens"),
        (Budget(tokens=40, reserve=10), "30 of 40 tokens (10 of them are kept for a summary)"),
        (Budget(input_tokens=20), "20 of 20 input tokens"),
        (Budget(output_tokens=10), "10 of 10 output tokens"),
        (Budget(reasoning_tokens=6), "6 of 6 reasoning tokens"),
        (Budget(cost=2 * TURN), "0.0000 of 4e-05 USD"),
        (Budget(max_tool_calls=1), "2 calls asked for, 1 allowed"),
    ],
    ids=str,
)
def test_each_limit_lets_the_run_rest_and_says_what_is_spent(budget, said):
    turns = [thinks(LOOK), thinks(asks_for(("look", {"key": "b"}))), says("never"), says("never")]
    _, result = story(*turns, budget=budget, prices=PRICES)

    assert (result.status, result.reason, result.turns) == (RunStatus.SUSPENDED, WaitsFor.BUDGET, 2)
    assert said in result.message
    assert "Resume with a larger budget" in result.message


def test_an_answer_that_is_there_is_judged_whatever_it_cost():
    assert story(says("done"), budget=Budget(max_turns=1, cost=TURN), prices=PRICES)[1].succeeded


def test_with_more_the_run_goes_on_where_it_was():
    _, result = story(LOOK, says("done"), budget=Budget(cost=TURN), prices=PRICES, resumed=Budget(cost=10 * TURN))

    assert (result.text, result.turns, result.tool_calls) == ("done", 2, 1)
    assert result.cost == pytest.approx(2 * TURN)


def test_the_cost_of_a_turn_is_committed_and_later_prices_change_nothing():
    async def run():
        bench = Bench(LOOK, budget=Budget(max_turns=1), prices=PRICES)
        await bench.run()
        dearer = Loop(
            provider=Scripted([says("done")]),
            journal=bench.journal,
            tools=bench.ledger.tools(),
            prices={"scripted": Price(1e6, 1e6, 1e6)},
        )
        return await bench.records(AssistantTurn), await dearer.resume("s", budget=Budget(max_turns=5))

    (turn,), result = asyncio.run(run())
    assert turn.cost == pytest.approx(TURN)
    assert result.cost == pytest.approx(TURN + 15)


def test_a_cost_cannot_be_limited_where_a_price_is_not_known():
    with pytest.raises(ConfigError, match=r"what 'scripted' costs is not known; give Loop\(prices=.*--price"):
        Loop(provider=Scripted([]), journal=":memory:", budget=Budget(cost=1.0))


def test_a_model_without_a_price_that_answers_in_anothers_place_ends_the_work():
    other = attrs.evolve(LOOK, model="nobody-knows")
    _, result = story(other, budget=Budget(cost=1.0), prices=PRICES)

    assert (result.reason, result.cost) == (WaitsFor.BUDGET, 0.0)
    assert "what nobody-knows costs is not known" in result.message


def test_a_run_asks_for_other_agents_within_its_limit():
    from support.past import Past

    from gates.budget_left import budget_left
    from states.verdicts import Pass

    past = Past(budget=Budget(max_delegated=1)).tool_turn("task")
    assert (past.history.delegated, type(budget_left.judge(past.history))) == (1, Pass)
    past.calls("task")
    assert "2 runs of other agents asked for, 1 allowed" in budget_left.judge(past.history).message


def test_a_reserve_has_to_be_part_of_the_tokens():
    with pytest.raises(ConfigError, match="has to be smaller"):
        Loop(provider=Scripted([]), journal=":memory:", budget=Budget(tokens=10, reserve=10))


# --- where things stand -----------------------------------------------------------------------------------------


def test_without_a_reserve_the_journal_tells_where_things_stand_and_nobody_is_asked():
    turn = asks_for(("bash", {"command": "pytest -q", "exit_status": 1}))
    bench, result = story(turn, LOOK, budget=Budget(max_turns=2))

    assert len(bench.provider.requests) == 2
    (rest,) = [record for record in bench.entries if isinstance(record, Suspended)]
    assert result.summary == rest.summary
    assert "2 turns, 2 tool calls, 30 tokens" in rest.summary
    assert "`pytest -q` ended with exit status 1" in rest.summary
    assert "Asked for and not started: look" in rest.summary


def test_with_a_reserve_the_model_is_asked_once_without_tools():
    bench, result = story(LOOK, says("Half of it is done."), budget=Budget(max_turns=1, reserve=100))

    assert (result.status, result.reason, result.summary) == (
        RunStatus.SUSPENDED,
        WaitsFor.BUDGET,
        "Half of it is done.",
    )
    last = bench.provider.requests[-1]
    assert (last.tools, last.messages[-1].text) == ((), ASK)
    assert isinstance(last.messages[-2], ToolMessage)  # the call that was not started has an answer there
    (summary,) = [record for record in bench.entries if isinstance(record, Summary)]
    assert (summary.text, result.usage.total) == ("Half of it is done.", 30)


def test_after_a_summary_the_run_goes_on_without_it():
    bench, result = story(
        LOOK, says("Half."), says("done"), budget=Budget(max_turns=1, reserve=100), resumed=Budget(max_turns=5)
    )

    assert (result.text, result.turns, result.tool_calls) == ("done", 2, 1)
    assert "Half." not in str(bench.asked())


@pytest.mark.parametrize(
    ("budget", "asked"),
    [
        (Budget(tokens=20, reserve=5), 2),
        (Budget(tokens=15, reserve=5), 1),  # the turn has eaten the reserve as well
        (Budget(max_turns=1, cost=TURN, reserve=5), 1),
    ],
)
def test_the_reserve_is_spent_only_while_it_is_there(budget, asked):
    bench, _ = story(LOOK, says("Half."), budget=budget, prices=PRICES)

    assert len(bench.provider.requests) == asked


def test_a_model_that_cannot_be_asked_leaves_what_the_journal_tells():
    down = ProviderTrouble(Trouble.DOWN, "away")
    _, result = story(LOOK, down, budget=Budget(max_turns=1, reserve=100))

    assert result.reason == WaitsFor.BUDGET
    assert result.summary.startswith("Spent: 1 turns")
