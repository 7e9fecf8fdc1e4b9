"""Random turns of mixed tools, with discards, cancels, failing commits and crashes at random moments, in virtual time.

What must hold is looked at from outside: as a tool starts, as the model is asked, and in the journal at the end.
"""

import asyncio
from collections import Counter

import attrs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.virtual import VirtualClock, run_virtually

from fsm import Loop
from fsm.audit import audit
from fsm.checks.claims import unpaired
from fsm.graph import GRAPH
from fsm.journal.memory import Fault, MemoryJournal
from states.errors import JournalError
from states.fold import fold
from states.messages import Call, Finish, Text
from states.names import RESTING
from states.ports import CallReady, ProviderTrouble, Reply, ToolOutput, ToolSpec
from states.records import Prestart, Status, ToolIntent, ToolResult, Trouble

OBJECT = {"type": "object"}
SPECS = (
    ToolSpec("read", "reads; may start early", OBJECT, read_only=True, concurrency_safe=True),
    ToolSpec("peek", "reads", OBJECT, read_only=True, concurrency_safe=True),
    ToolSpec("alone", "reads, by itself", OBJECT, read_only=True),
    ToolSpec("note", "counts once for each key", OBJECT, idempotent=True),
    ToolSpec("send", "can tell whether it happened", OBJECT, reconcilable=True),
    ToolSpec("pay", "has an effect", OBJECT),
    ToolSpec("both", "has effects, side by side", OBJECT, concurrency_safe=True),
)
BY_NAME = {spec.name: spec for spec in SPECS}
REPEATABLE = {spec.name for spec in SPECS if spec.read_only or spec.idempotent or spec.reconcilable}


@attrs.frozen
class Asked:
    """One call: its tool, how long that takes, and how it behaves."""

    tool: str
    seconds: float = 0.0
    way: str = "well"
    """well; fails; stubborn: does not heed its cancellation; crashes: takes the process with it."""
    broken: bool = False
    """Its arguments are no JSON."""


@attrs.frozen
class Turn:
    """`early`: how many calls are complete while the answer still streams, for so many seconds. `end`: how it ends."""

    calls: tuple[Asked, ...]
    early: int
    streams: float
    end: str


@attrs.frozen
class Life:
    """One process: after so many seconds it is cancelled, crashes, or loses the session to another."""

    seconds: float
    end: str
    faults: tuple[Fault, ...]


seconds = st.sampled_from([0.0, 0.5, 1.0, 2.0])
asked = st.builds(
    Asked,
    st.sampled_from(sorted(BY_NAME)) | st.just("read"),
    seconds,
    st.sampled_from(["well"] * 6 + ["fails", "stubborn", "crashes"]),
    st.sampled_from([False] * 9 + [True]),
)
turns = st.builds(
    Turn,
    st.lists(asked, max_size=5).map(tuple),
    st.integers(0, 5),
    seconds,
    st.sampled_from(["whole"] * 5 + ["cut", "length", "changed"]),
)
lives = st.builds(
    Life,
    seconds.map(lambda at: at + 0.25),
    st.sampled_from(["cancel", "crash", "crash", "taken over"]),
    st.lists(st.sampled_from([Fault.NONE] * 6 + [Fault.REFUSED, Fault.LOST, Fault.KEPT]), max_size=6).map(tuple),
)


class World:
    """Everything outside the loop, for all of its processes; what is wrong is noted in `problems`."""

    def __init__(self, plan, faults):
        self.plan = list(plan)
        self.faults = faults
        self.journal = MemoryJournal(faults=self._faults(), after=self._durable)
        self.entries = []
        self.starts, self.happened = Counter(), Counter()
        self.problems = []
        self.life = 0
        self.crash = asyncio.Event()

    def _faults(self):
        while True:
            yield self.faults.pop(0) if self.faults else Fault.NONE

    def _durable(self, claim, drafts):
        self.entries += [draft.entry for draft in drafts]

    def intent(self, key):
        seq = int(key.rpartition(":")[2])
        record = self.entries[seq - 1].record if seq <= len(self.entries) else None
        return record if isinstance(record, ToolIntent | Prestart) else None

    def process(self):
        self.life += 1
        return Loop(
            provider=Model(self, self.life),
            tools=Box(self, self.life),
            journal=self.journal,
            clock=VirtualClock(),
            prestart=["read"],
        )


class Model:
    model, secrets = "planned", ()

    def __init__(self, world, life):
        self.world, self.life = world, life

    async def close(self):
        """Nothing is open."""

    async def stream(self, request):
        world = self.world
        if self.life == world.life:
            known = fold("s", world.entries).messages
            if list(request.messages) != list(known):
                world.problems.append("I2: the request is not what is durable")
        if complaint := unpaired(request.messages):
            world.problems.append(f"I6: {complaint}")
        if not world.plan:
            yield Reply((Text("done"),), Finish.STOP, model="planned")
            return
        turn = world.plan.pop(0)
        calls = [Call("", one.tool, said(one, place), "same") for place, one in enumerate(turn.calls)]
        for place, call in enumerate(calls[: turn.early]):
            yield CallReady(place, call)
            await asyncio.sleep(turn.streams / 4)
        await asyncio.sleep(turn.streams)
        if turn.end == "cut":
            raise ProviderTrouble(Trouble.CUT, "it broke off")
        if turn.end == "changed":
            calls = calls[1:]
        words = (Text("and so on"),)
        yield Reply((*words, *calls), Finish.LENGTH if turn.end == "length" else Finish.CALLS, model="planned")


def said(one, place):
    return "{oops" if one.broken else f'{{"seconds": {one.seconds}, "way": "{one.way}", "place": {place}}}'


class Box:
    """The tools of one process; a dead one must start nothing."""

    specs = SPECS

    def __init__(self, world, life):
        self.world, self.life = world, life

    def spec(self, name):
        return BY_NAME.get(name)

    def complaint(self, name, arguments):
        return None if name in BY_NAME else f"there is no tool {name!r}."

    async def run(self, run):
        world, intent = self.world, self.world.intent(run.key)
        if intent is None or intent.name != run.name:
            world.problems.append(f"I1: {run.name} starts under {run.key} before its intent is durable")
        elif isinstance(intent, Prestart) and run.name != "read":
            world.problems.append(f"I1: {run.name} starts before its turn is committed")
        if self.life != world.life:
            world.problems.append(f"I9: {run.name} starts in a process that has lost the session")
        world.starts[run.key] += 1
        if world.starts[run.key] > 1 and run.name not in REPEATABLE:
            world.problems.append(f"I5: {run.name} starts twice under {run.key}")
        way, ends = run.arguments["way"], asyncio.get_running_loop().time() + run.arguments["seconds"]
        if way == "crashes" and world.starts[run.key] == 1:
            world.crash.set()
            await asyncio.Event().wait()
        while (left := ends - asyncio.get_running_loop().time()) > 0:
            try:
                await asyncio.sleep(left)
            except asyncio.CancelledError:
                if way != "stubborn":
                    raise
        world.happened[run.key] += 1
        return ToolOutput(Status.ERROR if way == "fails" else Status.OK, run.key)

    async def reconcile(self, run):
        return ToolOutput(Status.OK, run.key) if self.world.happened[run.key] else None


async def live(world, life, first):
    """One process, until it comes to its end or is brought to one."""
    world.faults[:] = life.faults if life else ()
    world.crash.clear()
    loop = world.process()
    task = asyncio.create_task(loop.run("go", session="s") if first else loop.resume("s", "go on"))
    crash = asyncio.create_task(world.crash.wait())
    await asyncio.wait([task, crash], timeout=life.seconds if life else None, return_when=asyncio.FIRST_COMPLETED)
    if not task.done() and life and life.end == "cancel" and not crash.done():
        await loop.cancel("s", "enough")
        await asyncio.wait([task, crash], return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        world.life += 1  # whatever it does from now on, it does as a dead one
        world.journal.crash()
        if life is None or life.end != "taken over":
            task.cancel()
    crash.cancel()
    await asyncio.wait([task])
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, JournalError):
        raise error
    world.journal.crash()


async def tale(plan, ends):
    world = World(plan, [])
    for number, life in enumerate([*ends, None, None]):
        known = bool(world.entries)
        await live(world, life, first=not known)
        if number >= len(ends) and fold("s", world.entries).state in RESTING and not world.plan:
            break
    return world


@settings(max_examples=max(40, settings.default.max_examples // 3), suppress_health_check=list(HealthCheck))
@given(st.lists(turns, min_size=1, max_size=4), st.lists(lives, max_size=3))
def test_whatever_happens_to_a_turn_of_tools_the_invariants_hold(plan, ends):
    world = run_virtually(tale(plan, ends))
    assert world.problems == []
    history = fold("s", world.entries)
    assert audit(GRAPH, world.entries, "s") == []
    if history.unanswered == 0:
        assert unpaired(history.messages) is None
    past = fold("s", [])
    for entry in world.entries:
        state = past.calls.get(entry.record.call) if isinstance(entry.record, ToolResult) else None
        if state is not None and entry.record.status is Status.OK:
            assert entry.record.output == f"s:{state.intent}", "I7: a result of another start"
        past = fold_one(past, entry)
    for key, times in world.happened.items():
        assert times == 1 or world.intent(key).name in REPEATABLE - {"send"}, "I5: an effect took place twice"


def fold_one(history, entry):
    from states.fold import apply

    apply(history, entry)
    return history
