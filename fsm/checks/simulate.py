"""Thousands of seeded histories of the real loop in virtual time, with faults at every port and at any await.

A history is a list of deeds: answers, results, words, cancellations, crashes, commits that fail, other owners, clocks
that jump. A deed can fall into the middle of another, after any number of rounds of the event loop. The same seed
gives the same history, byte for byte; one that breaks a claim is made shorter, told, and written as a file that
`interlock replay-case` plays again.
"""

import asyncio
import hashlib
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from fsm.draw import session_marks, svg
from fsm.graph import Graph, Row
from fsm.journal.memory import Fault
from states.codec import encode, kind_of
from states.errors import JournalError
from states.records import Transition

from . import case
from .broken import Broken
from .case import Case, Step
from .choices import Choice, Chooser
from .claims import STANDARD, Claim, gates_were_asked, passes_of
from .coverage import Coverage
from .deeds import MakeLoop, graph_of
from .moves import told
from .replay import Prefix
from .stage import StageClock
from .virtual_loop import VirtualLoop

MIDST: Final = 0.25
"""Part of the steps into which another deed falls."""
ROUNDS: Final = 24
"""Rounds of the event loop within which it does: more than any activity needs up to its next cue."""
STEPS: Final = 24
"""Deeds of one history."""
TRIES: Final = 400
"""Shorter histories that are tried before the shortest so far is told."""
CASES: Final = Path("interlock-cases")
"""Where failing histories are written, under the current folder."""
FOLLOWED: Final = 7
"""Steps for which each past is followed before the seeded histories begin."""
JUMP: Final = 3600.0
"""Seconds by which the wall clock jumps, to and fro."""


@attrs.define
class Simulated:
    """What was done. `digest` is the same for the same seeds; `seconds` are those of one core."""

    histories: int
    steps: int
    seconds: float
    digest: str
    coverage: Coverage

    def __str__(self) -> str:
        rate = self.histories / self.seconds * 60 if self.seconds else 0
        faults = sum(self.coverage.faults.values())
        return f"{self.histories} histories, {self.steps} steps, {faults} faults; {rate:,.0f} histories a minute (CPU)"


class JumpingClock(StageClock):
    """The wall clock can be set, the other one only goes on."""

    skew = 0.0

    def now(self) -> float:
        return self.time + self.skew


class Simulation(Chooser):
    """One history under way."""

    clock: JumpingClock

    def __init__(self) -> None:
        super().__init__()
        self.clock = JumpingClock()
        self.journal._now = self.clock.now  # noqa: SLF001  ours: it was made with the clock before
        self.faulted: Counter[str] = Counter()

    def all(self) -> list[Choice]:
        return [choice for group in self.groups() for choice in group]

    def _disturbances(self, here: Any) -> list[Choice]:
        return [*super()._disturbances(here), Choice("the wall clock jumps", self._jump)]

    def _jump(self) -> None:
        self.clock.skew = -JUMP if self.clock.skew >= 0 else JUMP

    def midst(self) -> list[Choice]:
        """What may fall into the middle of anything."""
        here = self.here
        notes = self._notes() if self.session and self.history.seq else []
        if here is None or here.task is None or here.task.done():
            return []
        return [
            *notes,
            Choice("cancelled", lambda: here.loop.cancel(self.session, "enough")),
            Choice("the caller goes away", lambda: here.task and here.task.cancel()),
            Choice("a crash", lambda: self.crash(happened=False)),
            Choice("a crash, after what was started had happened", lambda: self.crash(happened=True)),
            Choice("somebody else takes it over", self.take_over),
            Choice("the wall clock jumps", self._jump),
            Choice("the next commit fails: lost", lambda: self.faults.append(Fault.LOST)),
            Choice("the next commit fails: kept", lambda: self.faults.append(Fault.KEPT)),
        ]

    async def step(self, choice: Choice, step: Step, loop: VirtualLoop) -> None:
        """Do it, and what falls into it; let everybody act; look."""
        loop.dice.seed(step.order)
        self._count(choice.label)
        deed = asyncio.ensure_future(self._done(choice))
        if step.during:
            for _ in range(step.after):
                await asyncio.sleep(0)
            for other in [other for other in self.midst() if other.label == step.during][:1]:
                self._count(other.label)
                await self._done(other)
        await deed
        await self._settle()
        self._look()

    async def _done(self, choice: Choice) -> None:
        try:
            done = choice.do()
            if asyncio.iscoroutine(done):
                await done
        except JournalError:  # whoever comes to a store that has just failed is told so
            if not self.failed_commit:
                raise

    def _count(self, label: str) -> None:
        if label.startswith(FAULTS):
            self.faulted[label] += 1


FAULTS: Final = (
    *("a crash", "the next commit fails", "somebody else", "another process cancels", "cancelled", "the caller goes"),
    *(
        "the wall clock",
        "the workspace is changed",
        "a tool of the former",
        "the former owner",
        "somebody leaves a note",
    ),
)


@attrs.define
class _Stage:
    """Plays histories of one loop, one after the other, on one event loop."""

    kind: type[Simulation]
    make_loop: MakeLoop
    graph: Graph
    claims: tuple[Claim, ...] = ()
    """The user's own."""
    clock: StageClock = attrs.field(factory=StageClock)
    loop: VirtualLoop = attrs.field(init=False)
    steps: int = 0

    def __attrs_post_init__(self) -> None:
        self.loop = VirtualLoop(lambda: self.clock.time)
        self.loop.set_exception_handler(lambda *_: None)  # whoever is dropped has nobody who hears how it ended

    def play(self, source: "Source") -> "tuple[Simulation, list[Step], list[str], Broken | None]":
        """What was played, the labels with what each committed, and what broke."""
        history = self.kind()
        self.clock = history.clock
        played: list[Step] = []
        told: list[str] = []
        broken: Broken | None = None
        try:
            while (drawn := _next(source, history)) is not None:
                choice, step = drawn
                played.append(step)
                before = {name: track.history.seq for name, track in history.tracks.items()}
                try:
                    self.loop.run_until_complete(history.step(choice, step, self.loop))
                finally:
                    told.append("".join((str(step), *_committed(history, before))))
        except Broken as error:
            broken = error
        except Exception as error:  # noqa: BLE001  whatever a loop raises that it should not
            broken = Broken("walk", f"{type(error).__name__}: {error}")
        self.steps += len(played)
        try:
            self.loop.run_until_complete(history.end(broken=broken is not None))
        except Broken as error:
            broken = broken or error
        except Exception as error:  # noqa: BLE001  such as a journal that nobody can fold
            broken = broken or Broken("walk", f"{type(error).__name__}: {error}")
        self._sweep()
        return history, played, told, broken

    def _sweep(self) -> None:
        """No task outlives its history."""
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


@attrs.define
class _Drawn:
    """Deeds drawn from a seed."""

    dice: random.Random
    left: int


@attrs.define
class _Onward:
    """One past, and then whatever moves the run on, undisturbed."""

    start: str
    left: int = FOLLOWED


Source = Iterator[Step] | _Drawn | _Onward


def _next(source: Source, history: Simulation) -> tuple[Choice, Step] | None:
    if isinstance(source, _Onward):
        if not source.left:
            return None
        source.left -= 1
        wanted = f"taken up: {source.start}" if not history.session else None
        first = next((choice for choice in history.all() if wanted in (None, choice.label)), None)
        return None if first is None else (first, Step(first.label))
    if isinstance(source, _Drawn):
        if not source.left:
            return None
        source.left -= 1
        choice = source.dice.choice(source.dice.choice(history.groups()))
        during, after = "", 0
        if source.dice.random() < MIDST:
            others = history.midst()
            during = source.dice.choice(others).label if others else ""
            after = source.dice.randrange(ROUNDS) if during else 0
        return choice, Step(choice.label, source.dice.randrange(1, 2**31), during, after)
    for step in source:
        found = _chosen(step.do, history.all())
        if found is not None:
            return found, attrs.evolve(step, do=found.label)
    return None


def _chosen(wanted: str, choices: Sequence[Choice]) -> Choice | None:
    """The deed of this label, or else of one that differs in numbers alone: a shorter history numbers records anew."""
    kind = case.kind_of_break(wanted)
    exact = next((choice for choice in choices if choice.label == wanted), None)
    return exact or next((choice for choice in choices if case.kind_of_break(choice.label) == kind), None)


def _committed(history: Simulation, before: dict[str, int]) -> list[str]:
    lines = []
    for name, track in history.tracks.items():
        new = track.entries[before.get(name, 0) :]
        moves = [f"{e.record.source} -> {e.record.target}" for e in new if isinstance(e.record, Transition)]
        kinds = Counter(kind_of(entry.record) for entry in new)
        words = ", ".join(kind if count == 1 else f"{kind} ×{count}" for kind, count in kinds.items())
        if new:
            moved = f" ({'; '.join(moves)})" if moves else ""
            lines.append(f"\n       committed {new[0].seq} to {new[-1].seq}: {words}{moved}")
    return lines


def stage(make_loop: MakeLoop, claims: Iterable[Claim] = (), starts: Iterable[Prefix] = ()) -> _Stage:
    """A stage for the loops that `make_loop` makes."""
    graph = graph_of(make_loop)
    members = {
        "make_loop": staticmethod(make_loop),
        "graph": graph,
        "claims": (*STANDARD, gates_were_asked(passes_of(graph)), *claims),
        "visited": Counter[Row](),
        "starts": tuple(starts),
    }
    return _Stage(type("Simulated", (Simulation,), members), make_loop, graph, tuple(claims))


def check(
    make_loop: MakeLoop,
    *,
    histories: int = 1000,
    seed: int = 0,
    claims: Iterable[Claim] = (),
    starts: Iterable[Prefix] = (),
    exempt: Iterable[Row] | None = None,
    cases: Path | None = CASES,
) -> Simulated:
    """Play so many histories, each from its own seed. Raises Broken, with the shortest history that was found.

    make_loop: takes provider, tools, journal, clock and workspace by name. starts: pasts to go on from besides the
    start. exempt: rows that need not be taken; None: a row that is never taken is no fault. cases: the folder for a
    failing history, None for none.
    """
    claims = tuple(claims)
    here = stage(make_loop, claims, starts)
    coverage, digest, began = Coverage(here.graph, rows=here.kind.visited), hashlib.sha256(), time.process_time()
    try:
        for start in here.kind.starts:
            _judge(here, _Onward(start.name), coverage, digest, cases)
        for number in range(histories):
            dice = random.Random(seed + number)  # noqa: S311  no secret: it has to be repeatable
            _judge(here, _Drawn(dice, STEPS), coverage, digest, cases)
    finally:
        here.loop.close()
    if exempt is not None:
        missed = [row for row in coverage.missed() if row not in set(exempt)]
        if missed:
            raise Broken("every_row_is_taken", f"{len(missed)} rows were never taken", [told(row) for row in missed])
    return Simulated(
        histories + len(here.kind.starts), here.steps, time.process_time() - began, digest.hexdigest(), coverage
    )


def _judge(here: _Stage, source: Source, coverage: Coverage, digest: "hashlib._Hash", cases: Path | None) -> None:
    history, played, _, broken = here.play(source)
    coverage.faults += history.faulted
    for track in history.tracks.values():
        coverage.take(track.entries)
        for entry in track.entries:
            digest.update(encode(entry.record))
    if broken is not None:
        raise _told(here, played, broken, cases)


def _told(here: _Stage, played: list[Step], broken: Broken, cases: Path | None) -> Broken:
    """The break, by the shortest history that leads to it."""
    steps, history, story, broken = _shortened(here, played, broken)
    named = re.match(r"record \d+: (\w+): ", broken.why)  # a claim on records, rather than on what happened outside
    name = named[1] if named else broken.claim
    made = Case(
        case.named(here.make_loop),
        tuple(steps),
        name,
        broken.why,
        "",
        tuple(map(case.named, here.claims)),
        tuple(story),
    )
    lines = [*story, *_way(history)]
    if cases is not None:
        path = made.write(cases)
        entries = history.tracks[history.session].entries if history.session else []
        picture = path.with_suffix(".svg")
        picture.write_text(svg(here.graph, session_marks(here.graph, entries)))
        lines += [f"the way through the machine: {picture}", f"play it again: interlock replay-case {path}"]
    return Broken(broken.claim, broken.why, lines)


def _shortened(here: _Stage, steps: list[Step], broken: Broken) -> tuple[list[Step], Simulation, list[str], Broken]:
    """Fewer steps that break the same claim in the same way, and how they do: records have other numbers there."""
    wanted = case.kind_of_break(str(broken.why))
    history, _, story, _ = here.play(iter(steps))
    size, tries = max(1, len(steps) // 2), TRIES
    while tries > 0:
        for candidate in case.shorter(steps, size):
            tries -= 1
            tried, played, words, again = here.play(iter(candidate))
            if again is not None and case.kind_of_break(again.why) == wanted:
                steps, history, story, broken = played, tried, words, again
                break
            if tries <= 0:
                break
        else:
            if size == 1:
                break
            size //= 2
    return steps, history, story, broken


def _way(history: Simulation) -> list[str]:
    if not history.session:
        return []
    moves = [entry.record for entry in history.track.entries if isinstance(entry.record, Transition)]
    return (
        ["the way: " + " -> ".join([*(str(m.source) for m in moves[:1]), *(str(m.target) for m in moves)])]
        if moves
        else []
    )


def play(made: Case, make_loop: MakeLoop | None = None, starts: Iterable[Prefix] = ()) -> Broken | None:
    """Play a case again: what broke, with its story, or None if nothing does any more. Raises ConfigError."""
    claims = tuple(case.found(name) for name in made.claims)
    here = stage(make_loop or case.found(made.loop), claims, starts)
    try:
        history, _, story, broken = here.play(iter(made.steps))
    finally:
        here.loop.close()
    return None if broken is None else Broken(broken.claim, broken.why, [*story, *_way(history)])
