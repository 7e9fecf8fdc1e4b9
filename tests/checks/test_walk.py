"""The real loop under random walks; and loops with a planted fault, which a walk must not survive."""

import attrs
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from support.unfenced import without_fence

from fsm import driver
from fsm.checks import Broken, walk, walker
from fsm.checks.world import READ
from fsm.loop import Loop
from states import await_results, dispatch_tools, prestart
from states.ahead import Ahead
from states.contract import Budget, Contract
from states.errors import HistoryError
from states.history import CallState
from states.records import Prestart, ToolIntent


def make_loop(**parts):
    budget = Budget(max_turns=None, seconds=60)
    return Loop(**parts, contract=Contract(checks=("test",)), budget=budget, prestart=(READ,))


def make_verified_loop(**parts):
    """Where somebody else has to agree, too."""
    contract = Contract(checks=("test",), verify="always")
    return Loop(**parts, contract=contract, budget=Budget(max_turns=None, seconds=60), prestart=(READ,))


TestWalk = walk.of(make_verified_loop, name="TestWalk").TestCase

FEW = settings(
    max_examples=600, stateful_step_count=20, derandomize=True, database=None, deadline=None, phases=[Phase.generate]
)


def walked(make_loop=make_loop, **options):
    machine = walk.of(make_loop, name="Planted", **options).machine
    machine.starts = ()  # from the start only: a planted fault must not need a rare past
    with pytest.raises((Broken, HistoryError)) as caught:  # the fold itself refuses some of them
        run_state_machine_as_test(machine, settings=FEW)
    return str(caught.value)


def test_a_claim_of_ones_own_is_checked_on_every_durable_step():
    def never_two_turns(before, move, now):
        return "a second turn" if now.turns > 1 else None

    assert "never_two_turns: a second turn" in walked(claims=(never_two_turns,))


def test_a_tool_that_starts_before_its_intent_is_durable_is_seen(monkeypatch):
    async def eager(self, *records):
        self._stage(*records)
        if self.history.state != "await_results":
            await self._flush()
        return self.world

    monkeypatch.setattr(driver.Driver, "outside", eager)

    assert "before its intent is durable" in walked()


def test_a_request_with_something_that_is_not_durable_is_seen(monkeypatch):
    async def eager(self, *records):
        self._stage(*records)
        return self.world

    monkeypatch.setattr(driver.Driver, "outside", eager)

    assert "not durable" in walked()


def test_a_lost_call_that_is_run_again_unasked_is_seen(monkeypatch):
    async def always_again(*_):
        return None

    monkeypatch.setattr(await_results, "_recover", always_again)

    assert "twice under" in walked()


def test_a_call_that_starts_early_before_its_intent_is_durable_is_seen(monkeypatch):
    commit = driver.Driver.commit

    async def eager(self, *records):
        self._stage(*records)
        if not any(isinstance(record, Prestart) for record in records):
            await commit(self)

    monkeypatch.setattr(driver.Driver, "commit", eager)

    assert "before its intent is durable" in walked()


def test_a_call_that_starts_early_and_is_not_on_the_list_is_seen(monkeypatch):
    def anything(ready, run):
        call = attrs.evolve(ready.call, id=run.history.call_id(ready.order))
        decided = dispatch_tools.decide(CallState(call, ready.order), run)
        return decided if isinstance(decided, ToolIntent) else None

    monkeypatch.setattr(prestart, "_may_start", anything)

    assert "before its turn is committed" in walked()


def test_a_late_result_of_a_dead_epoch_that_is_taken_for_a_new_one_is_seen(monkeypatch):
    """The tool of a discarded turn goes on, and what it leaves is given to the call that has its id now."""

    async def forgotten(self):
        return {}

    async def stamped_anew(early, run, world):
        return attrs.evolve(await run_ahead(early, run, world), epoch=run.history.epoch)

    run_ahead = prestart.run_ahead
    monkeypatch.setattr(Ahead, "stop", forgotten)
    monkeypatch.setattr(prestart, "run_ahead", stamped_anew)

    said = walked()

    assert "was never started" in said or "a result of dead epoch" in said


def test_an_event_that_is_shown_before_it_is_durable_is_seen(monkeypatch):
    async def boast(self):
        for draft in self._staged:
            self.voice.entry(draft.entry, self.claim.session, self.history.calls)
        if self._staged:
            batch, self._staged = list(self._staged), []
            await self.journal.append(self.claim, batch)

    monkeypatch.setattr(driver.Driver, "_flush", boast)

    assert "is shown before it is durable" in walked()


def test_a_store_without_a_fence_is_seen(monkeypatch):
    without_fence(monkeypatch)
    monkeypatch.setattr(
        walker.Walker, "_disturbances", lambda self, here: [walker.Choice("taken over", self.take_over)]
    )
    for other in ("_asks", "_results"):  # a new owner that finds work begun writes at once: take it over before that
        monkeypatch.setattr(walker.Walker, other, lambda self, here: [])

    def untimed(**parts):
        """With seconds to count, whoever takes a run up writes at once, and a zombie's numbers are old."""
        return Loop(**parts, contract=Contract(checks=("test",)), budget=Budget(max_turns=None))

    assert walked(untimed)


def test_a_walk_that_gets_nowhere_fails():
    rows = walk.of(make_loop, name="Nowhere").machine.graph
    with pytest.raises(Broken, match=f"every_row_is_taken: {len(rows) - 7} rows were never taken"):
        walk._covered(rows, walk.Counter(), walk.Counter(), {r: "" for r in rows if r.event == "commit_failed"}, 1)


def test_two_walks_do_not_share_their_examples():
    one, two = walk.of(make_loop, name="One"), walk.of(make_loop, name="Two")

    assert one.TestCase.__name__ != two.TestCase.__name__
    assert one.machine.__qualname__ != two.machine.__qualname__
    assert one.TestCase.__module__ == __name__


def test_a_second_walk_of_one_name_gets_a_name_of_its_own():
    one, two, unnamed = walk.of(make_loop, name="Same"), walk.of(make_loop, name="Same"), walk.of(make_loop)

    assert (one.__name__, two.__name__) == ("Same", "Same_2")
    assert unnamed.TestCase.__name__.startswith("Walk_make_loop")
