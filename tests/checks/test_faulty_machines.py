"""Faulty versions of the machine, for each invariant: simulated histories have to find every one.

By default one for each invariant is tried; INTERLOCK_MUTANTS=all tries all, and prints the score.
"""

import os
from collections import Counter
from collections.abc import Callable

import attrs
import pytest
from support.unfenced import without_fence

from fsm import driver
from fsm.checks import Broken, simulate
from fsm.journal.memory import MemoryJournal
from fsm.loop import Loop
from gates import checks_passed
from gates.budget_left import budget_left
from gates.checks_passed import ChecksPassed
from states import await_results, dispatch_tools, finalize, provider_turn
from states.contract import Budget, Contract
from states.errors import JournalError
from states.history import History
from states.names import Event, State
from states.records import Transition, Verdict
from states.verdicts import Pass, WaitsFor

HISTORIES = 250
"""Those of the quick profile."""
SHORT = 10
"""Steps of a counterexample, at most."""

Plant = Callable[[pytest.MonkeyPatch], object]
FAULTS: dict[str, Plant] = {}


def fault(name: str) -> Callable[[Plant], Plant]:
    def keep(plant: Plant) -> Plant:
        FAULTS[name] = plant
        return plant

    return keep


def make_loop(**parts):
    return Loop(**parts, contract=Contract(checks=("test",)), budget=Budget(max_turns=None, seconds=60))


def easy_loop(**parts):
    """One that owes nothing and has no limit of seconds, so that it gets to its end."""
    return Loop(**parts, budget=Budget(max_turns=None))


EASY = {"I3", "I4", "I9"}


def target(source, event, leads_to):
    """A driver that goes elsewhere than the table says."""

    def plant(patch):
        honest = driver.decide

        def astray(graph, state, happened, history):
            decision = honest(graph, state, happened, history)
            here = (state, happened) == (source, event) and decision.target is not State.SUSPENDED
            return attrs.evolve(decision, target=leads_to) if here else decision

        patch.setattr(driver, "decide", astray)

    return plant


# --- I1: commit before effect ---------------------------------------------------------------------------------------


@fault("I1 a tool starts before its intent is durable")
def _(patch):
    async def eager(self, *records):
        self._stage(*records)
        if self.history.state is not State.AWAIT_RESULTS:
            await self._flush()
        return self.world

    patch.setattr(driver.Driver, "outside", eager)


@fault("I1 a commit that failed is passed over")
def _(patch):
    honest = driver.Driver._flush_in_turn

    async def deaf(self):
        try:
            await honest(self)
        except JournalError:
            self._staged.clear()

    patch.setattr(driver.Driver, "_flush_in_turn", deaf)


@fault("I1 the key of a tool is not that of its intent")
def _(patch):
    honest = await_results._tool_run

    def other(call, name, arguments, intent, run):
        return honest(call, name, arguments, (intent or 0) + 1, run)

    patch.setattr(await_results, "_tool_run", other)


# --- I2: commit before sight ----------------------------------------------------------------------------------------


@fault("I2 the model is asked before what it reads is durable")
def _(patch):
    async def eager(self, *records):
        self._stage(*records)
        return self.world

    patch.setattr(driver.Driver, "outside", eager)


@fault("I2 an event is shown before it is durable")
def _(patch):
    honest = driver.Driver._flush_in_turn

    async def boast(self):
        for draft in self._staged:
            self.voice.entry(draft.entry, self.claim.session, self.history.calls)
        await honest(self)

    patch.setattr(driver.Driver, "_flush_in_turn", boast)


@fault("I2 the model does not see the last thing that was said")
def _(patch):
    honest = provider_turn.request_of

    def short(history, tools):
        request = honest(history, tools)
        return attrs.evolve(request, messages=list(request.messages)[:-1])

    patch.setattr(provider_turn, "request_of", short)


# --- I3: gates see committed state, evidence is spent once ----------------------------------------------------------


@fault("I3 a verdict is not what the gate said")
def _(patch):
    patch.setattr(driver, "Verdict", lambda gate, ruling: Verdict(gate, Pass("because")))


@fault("I3 a move names nothing that it rests on")
def _(patch):
    patch.setattr(driver, "Transition", lambda source, event, target, rests_on: Transition(source, event, target))


@fault("I3 a move names only the last thing that it rests on")
def _(patch):
    patch.setattr(
        driver, "Transition", lambda source, event, target, rests_on: Transition(source, event, target, rests_on[-1:])
    )


# --- I4: no uncommitted state reaches success -----------------------------------------------------------------------

FAULTS["I4 a candidate goes past verification"] = target(State.CANDIDATE_FINAL, Event.SUBMITTED, State.STOP_HOOK)
FAULTS["I4 a verified candidate is a success"] = target(State.VERIFY, Event.VERIFIED, State.SUCCEEDED)
FAULTS["I4 what the stop hook says is passed over"] = target(State.STOP_HOOK, Event.ANSWERED, State.SUCCEEDED)


@fault("I4 the receipt names no verdicts")
def _(patch):
    honest = finalize.receipt
    patch.setattr(finalize, "receipt", lambda history, revision: attrs.evolve(honest(history, revision), verdicts=()))


# --- I5: nothing runs twice unasked ---------------------------------------------------------------------------------


@fault("I5 a lost call is run again")
def _(patch):
    async def again(*_):
        return None

    patch.setattr(await_results, "_recover", again)


@fault("I5 an answered call is open again")
def _(patch):
    patch.setattr(History, "open_calls", lambda self: list(self.calls.values()))


@fault("I5 a cancelled tool is started once more")
def _(patch):
    honest = await_results._start

    async def twice(state, run, world, begun):
        await honest(state, run, world, begun)
        return await honest(state, run, world, begun)

    patch.setattr(await_results, "_start", twice)


# --- I6: every call is answered exactly once ------------------------------------------------------------------------


@fault("I6 a cancelled run leaves its calls open")
def _(patch):
    patch.setattr(driver.Driver, "_close_calls", lambda self: None)


@fault("I6 calls without tools are dropped")
def _(patch):
    honest = dispatch_tools._answer

    def dropped(state, history, status, text):
        return attrs.evolve(honest(state, history, status, text), call="call_0_0")

    patch.setattr(dispatch_tools, "_answer", dropped)


@fault("I6 a result is given to the call before it")
def _(patch):
    honest = await_results._answer

    def shifted(call, *rest):
        return honest(call[:-1] + str(max(0, int(call[-1]) - 1)), *rest)

    patch.setattr(await_results, "_answer", shifted)


# --- I7: old generations are dead -----------------------------------------------------------------------------------


@fault("I7 a result is of another epoch")
def _(patch):
    honest = await_results._answer
    patch.setattr(
        await_results,
        "_answer",
        lambda call, output, metadata, took, epoch: honest(call, output, metadata, took, epoch + 1),
    )


@fault("I7 a turn is of the epoch before")
def _(patch):
    honest = provider_turn.turn_of

    def old(reply, history, saw, cost=None):
        return attrs.evolve(honest(reply, history, saw, cost), epoch=history.epoch - 1)

    patch.setattr(provider_turn, "turn_of", old)


@fault("I7 an answer that broke off begins no new epoch")
def _(patch):
    patch.setattr(provider_turn, "given_up", lambda failure, history, epoch: ())


# --- I8: evidence is of this very workspace --------------------------------------------------------------------------


@fault("I8 a check that passed before the last change counts")
def _(patch):
    honest = checks_passed.duties

    def forgiving(history):
        missing, cites = honest(history)
        passed = tuple(seq for seq, run in history.evidence.items() if run.exit_status == 0)
        return ((), passed) if passed else (missing, cites)

    patch.setattr(checks_passed, "duties", forgiving)


@fault("I8 evidence is of the workspace as it is now, not as it was when the check ran")
def _(patch):
    honest = ChecksPassed.gather

    async def fresh(self, history, outside):
        now = await (await outside()).workspace.revision()
        return tuple(attrs.evolve(found, revision=now) for found in await honest(self, history, outside))

    patch.setattr(ChecksPassed, "gather", fresh)


@fault("I8 nobody looks at the workspace again before the receipt")
def _(patch):
    async def remembered(run):
        return run.history.verification.revision

    patch.setattr(finalize, "revision", remembered)


# --- I9: one writer -------------------------------------------------------------------------------------------------


FAULTS["I9 the store has no fence"] = without_fence


# --- I10: re-entry is recovery --------------------------------------------------------------------------------------


@fault("I10 the end of the journal is not read again")
def _(patch):
    honest = MemoryJournal.read

    async def short(self, session):
        return (await honest(self, session))[:-1]

    patch.setattr(MemoryJournal, "read", short)


@fault("I10 work is not timed from where a lost run is taken up, nor is time steady")
def _(patch):
    patch.setattr(driver.Driver, "_now", lambda self: self.world.clock.now())


# --- I11: every run ends or rests, and the reason never lies --------------------------------------------------------


@fault("I11 a budget that is spent lets work go on")
def _(patch):
    honest = driver.decide

    def generous(graph, state, event, history):
        decision = honest(graph, state, event, history)
        stopped = decision.target is State.SUSPENDED and any(gate is budget_left for gate, _ in decision.rulings)
        return attrs.evolve(decision, target=State.PROVIDER_TURN) if stopped else decision

    patch.setattr(driver, "decide", generous)


@fault("I11 a cancelled run says that it waits for money")
def _(patch):
    honest = driver.reason_of

    def lies(decision, cancellation):
        return tuple(
            attrs.evolve(said, waits_for=WaitsFor.BUDGET) if hasattr(said, "waits_for") else said
            for said in honest(decision, cancellation)
        )

    patch.setattr(driver, "reason_of", lies)


@fault("I11 a run that ends gives no reason")
def _(patch):
    patch.setattr(driver, "reason_of", lambda decision, cancellation: ())


# --- I12: the journal is never repaired by guessing -----------------------------------------------------------------


@fault("I12 a batch loses its last record")
def _(patch):
    honest = MemoryJournal._rows
    patch.setattr(
        MemoryJournal,
        "_rows",
        lambda self, state, claim, drafts: honest(self, state, claim, drafts[: max(1, len(drafts) - 1)]),
    )


# --- the score ------------------------------------------------------------------------------------------------------

EVERY = os.environ.get("INTERLOCK_MUTANTS") == "all"
CHOSEN = list(FAULTS) if EVERY else list({name.split()[0]: name for name in reversed(FAULTS)}.values())


@pytest.mark.parametrize("name", CHOSEN)
def test_a_faulty_machine_is_found_by_a_short_history(name, monkeypatch, tmp_path):
    FAULTS[name](monkeypatch)
    maker = easy_loop if name.split()[0] in EASY else make_loop

    with pytest.raises(Broken):
        simulate.check(maker, histories=HISTORIES, cases=tmp_path)
    (file,) = tmp_path.glob("*.json")
    from fsm.checks.case import read

    assert len(read(file).steps) <= SHORT


def test_most_invariants_have_three_faults():
    counts = Counter(name.split()[0] for name in FAULTS)

    assert set(counts) == {f"I{number}" for number in range(1, 13)}
    assert all(counts[f"I{number}"] >= 3 for number in (*range(1, 9), 11)), counts
