"""Seeded histories in virtual time: a seed gives one history, and a planted fault is found, shortened and told."""

import asyncio
import json

import pytest

from fsm import driver
from fsm.checks import Broken, case, simulate
from fsm.checks.case import Case, Step
from fsm.checks.virtual_loop import VirtualLoop
from fsm.cli import call
from fsm.graph import GRAPH
from fsm.loop import Loop
from states import await_results
from states.contract import Budget, Contract
from states.errors import ConfigError

FEW = 25


def make_loop(**parts):
    return Loop(**parts, contract=Contract(checks=("test",)), budget=Budget(max_turns=None, seconds=60))


def no_second_turn(before, move, now):
    """A claim of a user's own, which does not hold."""
    return "a second turn" if now.turns > 1 else None


def broken(folder=None, **options):
    with pytest.raises(Broken) as caught:
        simulate.check(make_loop, histories=150, cases=folder, **options)
    return caught.value


def test_the_same_seeds_give_the_same_histories_and_others_give_others():
    one, two = (simulate.check(make_loop, histories=FEW, cases=None) for _ in range(2))
    other = simulate.check(make_loop, histories=FEW, seed=FEW, cases=None)

    assert one.digest == two.digest != other.digest
    assert one.coverage.rows == two.coverage.rows
    assert one.steps > 10 * FEW


def test_what_was_exercised_is_counted():
    covered = simulate.check(make_loop, histories=FEW, cases=None).coverage

    assert sum(covered.faults.values()) > FEW
    assert {"a crash", "the wall clock jumps", "somebody else takes it over"} <= set(covered.faults)
    assert covered.states["provider_turn"] > FEW
    assert covered.verdicts["turn_whole", "passes"] > FEW
    assert "receipt_holds fails" in covered.silent()
    for words in ("states\n", "rows\n", "verdicts\n", "faults\n", "never taken: finalize -- finalized"):
        assert words in str(covered)


def test_a_row_that_is_never_taken_fails_the_check():
    with pytest.raises(Broken, match=r"every_row_is_taken: \d+ rows were never taken"):
        simulate.check(make_loop, histories=2, exempt=(), cases=None)
    simulate.check(make_loop, histories=2, exempt=GRAPH, cases=None)


def test_a_failing_history_is_short_and_is_told_and_played_again(tmp_path, monkeypatch, capsys):
    found = broken(tmp_path, claims=(no_second_turn,))
    (file,) = tmp_path.glob("*.json")
    made = case.read(file)

    assert "no_second_turn: a second turn" in str(found)
    assert "committed 1 to 2: run_started, user_input" in str(found)
    assert f"interlock replay-case {file}" in str(found)
    assert file.with_suffix(".svg").read_text().startswith("<svg")
    assert 1 < len(made.steps) <= 4
    assert made.loop == f"{__name__}:make_loop"
    again = simulate.play(made, make_loop)
    assert again is not None
    assert again.why == found.why
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine.py").write_text("from checks.test_simulate import make_loop\n")
    assert call(["replay-case", str(file), "--loop", "mine:make_loop"]) == 1
    assert "no_second_turn: a second turn" in capsys.readouterr().out


def test_a_history_that_no_longer_breaks_anything_says_so(tmp_path, capsys):
    file = Case(f"{__name__}:make_loop", (Step("a task is given"),), "something").write(tmp_path)

    assert simulate.play(case.read(file), make_loop) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [("no json", "is no case"), ("[]", "of this version"), ('{"interlock_case": 1}', "is no case"), (None, "read")],
)
def test_a_file_that_is_no_case_is_named(tmp_path, text, words):
    file = tmp_path / "case.json"
    if text is not None:
        file.write_text(text)

    with pytest.raises(ConfigError, match=words):
        case.read(file)


def test_a_loop_that_cannot_be_found_is_named():
    with pytest.raises(ConfigError, match="put it at the top of a module"):
        case.found("nowhere:make_loop")


def test_a_case_is_plain_json(tmp_path):
    file = Case("m:f", (Step("a", 1, "b", 2),), "claim", "why", claims=("m:c",), story=("s",)).write(tmp_path)

    assert json.loads(file.read_text())["steps"] == [{"do": "a", "order": 1, "during": "b", "after": 2}]
    assert case.read(file).steps == (Step("a", 1, "b", 2),)


# --- time and order -------------------------------------------------------------------------------------------------


def test_the_loop_has_the_time_that_it_is_given_and_an_order_of_its_seed():
    def order(seed):
        loop, ran = VirtualLoop(lambda: 5.0), []
        loop.dice.seed(seed)

        async def act():
            assert asyncio.get_running_loop().time() == 5.0
            await asyncio.gather(*(asyncio.sleep(0, ran.append(number)) for number in ()))
            for number in range(6):
                loop.call_soon(ran.append, number)
            await asyncio.sleep(0)
            await asyncio.sleep(0)

        loop.run_until_complete(act())
        loop.close()
        return ran

    assert sorted(order(1)) == list(range(6))
    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(5)}) > 1


def test_nothing_leaves_the_loop_for_a_thread():
    loop = VirtualLoop(lambda: 0.0)
    with pytest.raises(RuntimeError, match="no threads"):
        loop.run_in_executor(None, print)
    loop.close()


# --- bugs that it found ---------------------------------------------------------------------------------------------


def played(*steps):
    return simulate.play(Case("", tuple(Step(do) for do in steps)), make_loop)


def test_a_wall_clock_that_is_set_back_does_not_give_a_run_more_time():
    """Seconds were counted from the wall clock: set back, it made "out of budget" untrue by the journal."""
    assert (
        played(
            "a task is given",
            "the model asks for an effect, then a read",
            "act 9 fails",
            "the wall clock jumps",
            "look 10 ends, and the time is up",
        )
        is None
    )


def test_work_of_a_process_that_took_a_lost_run_up_is_counted():
    """It wrote nothing when it began, so that its first tool took no time by the journal."""
    assert (
        played(
            "a task is given",
            "the model asks for an effect, then a read",
            "act 9 ends well",
            "a crash",
            "resumed",
            "look 10 ends, and the time is up",
        )
        is None
    )


# --- planted faults -------------------------------------------------------------------------------------------------


def test_a_lost_call_that_is_run_again_unasked_is_found_in_a_few_steps(monkeypatch, tmp_path):
    async def always_again(*_):
        return None

    monkeypatch.setattr(await_results, "_recover", always_again)

    assert "twice under" in broken(tmp_path).why
    assert len(case.read(next(tmp_path.glob("*.json"))).steps) <= 10


def test_a_budget_that_is_timed_by_the_wall_clock_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(driver.Driver, "_now", lambda self: self.world.clock.now())

    with pytest.raises(Broken, match="waits for budget, which is not so"):
        simulate.check(make_loop, histories=400, cases=tmp_path)
    assert len(case.read(next(tmp_path.glob("*.json"))).steps) <= 10
