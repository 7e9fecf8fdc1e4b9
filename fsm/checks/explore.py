"""Breadth-first search over the real fold, the real gates and the real table, against a hostile environment.

Nodes are histories, told apart by `abstraction.key_of`. Gates count their own retries, so no two counters are kept at
once: a first search holds every counter at zero and finds out which of them a gate reads; then one search for each
of those keeps that counter alone, in an honest world. So each gate runs out of retries, and nothing multiplies. Where
that leaves a row untaken, the same is done with all other gates' retries used up.
"""

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, Protocol

import attrs

from fsm.graph import Graph, Row
from fsm.machine import Decision, decide
from gates.gate import Asked, Gate
from gates.on_course import on_course
from gates.output_accepted import CORRECTIONS, output_correctable
from gates.turn_whole import turn_whole
from states.actions import Actions
from states.contract import Contract, Permission
from states.errors import GateError, HistoryError
from states.history import History
from states.names import ENDS, RUNNING, Event, State
from states.output import OUTPUT_ACCEPTED
from states.records import Cancellation, GoalSet, Record, Resumed, RunStarted, Status, Transition, UserInput, Verdict
from states.stopping import GOAL_MET, STOP_ALLOWED
from states.verdicts import Retry

from .abstraction import View, key_of
from .broken import Broken
from .claims import (
    STANDARD,
    TWINS,
    Claim,
    broken,
    gates_were_asked,
    passes_of,
    success_hands_in_its_output,
    success_is_no_plan,
    success_is_not_refused,
    success_reaches_its_goal,
)
from .moves import Move, after, made_by, told
from .table_walk import Sheet, first_row
from .world import A_READ, EFFECTS, OUTPUTS, OWES_OUTPUT, STARTED, Proofs, World, proofs

MANY: Final = 24
"""Retries that are told apart; a gate that has sent a run back more often is taken to go on as it does then."""
PERSONAL: Final = (UserInput, Resumed, Cancellation, RunStarted)
"""What only a person can add: no run goes on for ever by these."""


class HasGraph(Protocol):
    @property
    def graph(self) -> Graph: ...


@attrs.define(eq=False)
class Node:
    """A history, and how it was reached."""

    history: History
    parent: "Node | None"
    move: Move
    depth: int

    def path(self) -> tuple[Move, ...]:
        """Every move from the start to here."""
        moves: list[Move] = []
        node: Node | None = self
        while node is not None:
            moves.append(node.move)
            node = node.parent
        return tuple(reversed(moves))

    def story(self) -> tuple[str, ...]:
        return tuple(move.label for move in self.path())


@attrs.frozen
class Report:
    """What was looked at. `rows`: how often each row was taken. `paths`: the shortest way to take it, honestly.

    `nodes` are all histories that were found, in the order in which they were found, the start first.
    """

    states: int
    transitions: int
    refused: int
    rows: Mapping[Row, int]
    paths: Mapping[Row, tuple[Move, ...]]
    codes: frozenset[str]
    """Reasons with which runs failed or rested."""
    honest_codes: frozenset[str]
    """The same where nobody lied."""
    counted: frozenset[str]
    """Gates that count their retries."""
    nodes: tuple[Node, ...] = attrs.field(repr=False)
    dead: tuple[Node, ...] = attrs.field(repr=False)
    """Where only the table stood in the way of a lie: no row takes what they say has happened."""

    def __str__(self) -> str:
        return (
            f"{self.states} product states, {self.transitions} transitions, {self.refused} refused, "
            f"{len(self.rows)} rows taken"
        )


class _Watched(Counter[str]):
    """Remembers whose retries were looked up."""

    def __init__(self, counted: Counter[str], reads: set[str]) -> None:
        super().__init__(counted)
        self.reads = reads

    def __getitem__(self, name: str) -> int:
        self.reads.add(name)
        return super().__getitem__(name)


@attrs.define(eq=False)
class _Search:
    """One search. Only the counter that `view` names is kept; every other one is held at zero."""

    graph: Graph
    claims: tuple[Claim, ...]
    world: World
    view: View
    exhausted: frozenset[str] = frozenset()
    """Gates that are taken to have used up their retries."""
    most: int = MANY
    """Retries of the counted gate that are told apart."""
    rows: Counter[Row] = attrs.field(factory=Counter)
    paths: dict[Row, tuple[Move, ...]] = attrs.field(factory=dict)
    codes: set[str] = attrs.field(factory=set)
    reads: set[str] = attrs.field(factory=set)
    idle: set[Claim] = attrs.field(factory=lambda: set(TWINS))
    """Claims whose twin never held so far."""
    transitions: int = 0
    refused: int = 0
    seen: dict[Hashable, Node] = attrs.field(factory=dict)
    nowhere: dict[Hashable, Node] = attrs.field(factory=dict)
    """Lies that the fold cannot know as such, and the table can."""
    queue: deque[Node] = attrs.field(factory=deque)
    onward: dict[Hashable, set[Hashable]] = attrs.field(factory=dict)
    """Steps without a person, once a gate has sent the run back `MANY` times."""
    again: set[tuple[Hashable, Hashable]] = attrs.field(factory=set)
    """Those of them with which the gate sends the run back."""
    probed: set[tuple[State, Event | None]] = attrs.field(factory=set)

    def run(self, started: RunStarted, *more: Record) -> None:
        empty = Node(History("explored"), None, Move("nothing yet", ()), 0)
        begin = Move("a run starts", (started, *more, UserInput("the task")))
        self._reach(None, begin, after(empty.history, begin), empty.history)
        while self.queue:
            self._expand(self.queue.popleft())
        for sent_back, target in self.again:
            if sent_back in self._reachable(target):
                why = f"{self.view.counted} sends the run back for ever"
                raise Broken("retries_are_bounded", why, self.seen[target].story())

    def _reachable(self, key: Hashable) -> set[Hashable]:
        """Where a run gets from there by itself, once the gate has sent it back `MANY` times."""
        found, fresh = {key}, [key]
        while fresh:
            onward = self.onward.get(fresh.pop(), set()) - found
            found |= onward
            fresh += onward
        return found

    def _expand(self, node: Node) -> None:
        history, on = node.history, False
        self._refuses_other_events(node)
        if history.closing_event is not None:
            on = self._decide(node, history.closing_event)
        for move in self.world.moves(history):
            try:
                now = after(history, move)
            except HistoryError as error:
                if move.honest:
                    raise Broken("honest_records_are_taken", str(error), (*node.story(), move.label)) from error
                self.refused += 1
                continue
            if not move.honest and self._leads_nowhere(now):
                self.refused += 1
                self.nowhere.setdefault(key_of(now, self.view), Node(now, node, move, node.depth + 1))
                continue
            if move.honest and not any(isinstance(record, Cancellation) for record in move.records):
                on |= now.closing_event is not None or now.unanswered < history.unanswered
                on |= _heard(now) > _heard(history)
            self._reach(node, move, now, history)
        if not on and history.state not in ENDS:
            raise Broken(
                "every_state_goes_on", f"nothing but a cancellation leads out of {history.state}", node.story()
            )

    def _leads_nowhere(self, history: History) -> bool:
        """A lie that the fold cannot know as one: the table has no row for it."""
        event = history.closing_event
        return event is not None and first_row(self.graph, history.state, event, Sheet(history)) is None

    def _decide(self, node: Node, event: Event) -> bool:
        """Make the move that the table calls for; the machine has to agree with a direct walk."""
        history = node.history
        history.retries = _Watched(history.retries, self.reads)
        sheet = Sheet(history)
        row = first_row(self.graph, history.state, event, sheet)
        decision = self._ask(node, event)
        history.retries = Counter(history.retries)
        if decision.target is not (row.target if row else None) or decision.rulings != tuple(sheet.rulings.values()):
            raise Broken(
                "machine_agrees_with_table",
                f"on {event} in {history.state} the machine says {decision.target}, the table {row and row.target}",
                node.story(),
            )
        if row is None:
            raise Broken("every_end_leads_somewhere", f"no row takes {event} in {history.state}", node.story())
        self.rows[row] += 1
        move = _labelled(made_by(decision, history), decision)
        if row not in self.paths and all(step.honest for step in node.path()):
            self.paths[row] = (*node.path(), move)
        self._reach(node, move, after(history, move), history)
        return True

    def _ask(self, node: Node, event: Event) -> Decision:
        try:
            return decide(self.graph, node.history.state, event, node.history)
        except GateError as error:
            raise Broken("gates_rule_as_declared", str(error), node.story()) from error

    def _reach(self, node: Node | None, move: Move, now: History, before: History) -> None:
        self.transitions += 1
        story = node.story() if node else ()
        for name, why in broken(self.claims, before, move, now):
            raise Broken(name, why, (*story, move.label))
        self.idle -= {claim for claim in self.idle if TWINS[claim](before, move, now)}
        counted = self.view.counted
        kept = now.retries[counted] if counted else 0
        kept = min(kept, self.most)
        now.retries = Counter(dict.fromkeys(self.exhausted, MANY))
        if counted and kept:
            now.retries[counted] = kept
        _hold_detectors(now, self.view)
        if now.failure is not None and now.state is State.FAILED:
            self.codes.add(now.failure.code)
        if now.rest is not None and now.state is State.SUSPENDED:
            self.codes.add(now.rest.waits_for.value)
        key = key_of(now, self.view)
        if kept == self.most and node is not None and not self._else_bounded(move):
            known = key_of(before, self.view)
            self.onward.setdefault(known, set()).add(key)
            if any(isinstance(record, Verdict) and isinstance(record.ruling, Retry) for record in move.records):
                self.again.add((known, key))
        if key not in self.seen:
            found = Node(now, node, move, node.depth + 1 if node else 0)
            self.seen[key] = found
            self.queue.append(found)

    def _else_bounded(self, move: Move) -> bool:
        """A person has a part in it, or another gate's retry, which counts in a search of its own."""
        return any(
            isinstance(record, PERSONAL)
            or (isinstance(record, Verdict) and isinstance(record.ruling, Retry) and record.gate != self.view.counted)
            for record in move.records
        )

    def _refuses_other_events(self, node: Node) -> None:
        """An event that did not happen here moves nothing: once for each (state, event that ended the activity)."""
        history = node.history
        if (history.state, history.closing_event) in self.probed:
            return
        self.probed.add((history.state, history.closing_event))
        for event in Event:
            target = self._ask(node, event).target
            if history.state in ENDS and target is not None:
                raise Broken("ends_are_final", f"{event} leads out of {history.state}", node.story())
            if event is Event.COMMIT_FAILED and history.state in RUNNING:
                self._store_fails(node)
            elif event is not history.closing_event:
                forged = Move(
                    f"a forged {event}",
                    (Transition(history.state, event, target or State.SUCCEEDED, (history.closing,)),),
                )
                try:
                    after(history, forged)
                except HistoryError:
                    continue
                raise Broken("no_move_without_cause", f"{event} moved {history.state}", (*node.story(), forged.label))

    def _store_fails(self, node: Node) -> None:
        """Not journaled, since the journal is what failed: the table alone can be asked."""
        history = node.history
        row = first_row(self.graph, history.state, Event.COMMIT_FAILED, Sheet(history))
        if row is None or row.target is not State.FAILED:
            raise Broken("a_failed_store_ends_the_run", f"not in {history.state}", node.story())
        self.rows[row] += 1


def _heard(history: History) -> int:
    """Answers of hooks about the calls of the turn; each call is put before them once."""
    return sum(len(state.hooks) for state in history.calls.values())


def _labelled(move: Move, decision: Decision) -> Move:
    said = ", ".join(f"{gate.name}: {type(ruling).__name__}" for gate, ruling in decision.rulings)
    return attrs.evolve(
        move, label=f"{decision.source} -- {decision.event} --> {decision.target}" + (f" [{said}]" if said else "")
    )


def check(
    graph: "Graph | HasGraph",
    claims: tuple[Claim, ...] = (),
    *,
    standard: tuple[Claim, ...] = STANDARD,
    required: Mapping[State, frozenset[str]] | None = None,
    started: RunStarted = STARTED,
    proofs: Proofs = proofs,
) -> Report:
    """Search everything that a graph (or a loop's graph) can do. Raises Broken, with the shortest story.

    claims: further ones. standard: the ones that come with the package. required: gates whose pass a candidate owes,
    by state; by default those that the graph itself asks. started: the run's contract and budget. proofs: evidence
    that gates of your own may gather.
    """
    table: Graph = graph if isinstance(graph, tuple) else graph.graph
    owed = passes_of(table) if required is None else required
    names = {gate.name for gate in _gates(table)}
    heard: tuple[Claim, ...] = (success_is_not_refused,) if STOP_ALLOWED in names else ()
    heard += (success_reaches_its_goal,) if GOAL_MET in names else ()
    every = (*standard, gates_were_asked(owed), *heard, *claims)
    base = _Search(table, every, World(proofs=proofs), View())
    base.run(started)
    searches = [base, *_counted(table, every, proofs, started, base.reads)]
    if output_correctable.name in names:
        asked = OUTPUT_ACCEPTED in names  # a loop with a table that does not ask takes no contract with an output
        owed_here = tuple(claim for claim in every if asked or claim is not success_hands_in_its_output)
        searches += _owing_output(table, owed_here, started)
    searches.append(_Search(table, every, _hooked(proofs), View(epochs=False)))
    searches[-1].run(started)
    if GOAL_MET in names:
        pursuing = attrs.evolve(started, contract=Contract(), permission=Permission.FULL)
        others = frozenset(base.reads) - {GOAL_MET} if _hidden(table, base) else frozenset[str]()
        talk, view = World(hostile=False, calls={}), View(GOAL_MET, epochs=False)
        searches.append(_Search(table, every, talk, view, others))
        searches[-1].run(pursuing, GoalSet("the goal"))
    if any(_minds_standing_still(gate) for gate in _gates(table)):
        patient = World(hostile=False, calls=A_READ, proofs=proofs, results=(Status.OK,), fits=True)
        searches.append(_Search(table, every, patient, View(epochs=False, context=False, still=True)))
        searches[-1].run(started)
    if any(_minds_planning(gate) for gate in _gates(table)):
        plans = attrs.evolve(started, permission=Permission.PLAN)
        every = (*every, success_is_no_plan)
        planning = _Search(table, every, World(hostile=False, calls=A_READ, proofs=proofs), View(epochs=False))
        planning.run(plans)
        searches += [planning, *_counted(table, every, proofs, plans, planning.reads - base.reads)]
    if _hidden(table, base):
        tired = _Search(table, every, World(hostile=False, proofs=proofs), View(epochs=False), frozenset(base.reads))
        tired.run(started)
        reads = base.reads | tired.reads
        searches += [tired, *_counted(table, every, proofs, started, reads, exhausted=frozenset(reads))]
    return _report(table, searches, base, standard)


def _counted(
    graph: Graph,
    claims: tuple[Claim, ...],
    proofs: Proofs,
    started: RunStarted,
    reads: set[str],
    *,
    exhausted: frozenset[str] = frozenset(),
) -> Iterator[_Search]:
    """A search for each gate that looks its retries up, in an honest world with as much in it as that gate needs."""
    for gate in _gates(graph):
        name = gate.name
        if name in reads:
            view = View(name, repeats=_minds_repetition(gate), epochs=False, context=False)
            world = World(hostile=False, calls={} if view.repeats else A_READ, proofs=proofs, fits=True)
            search = _Search(graph, claims, world, view, exhausted - {name})
            search.run(started)
            yield search


def _owing_output(graph: Graph, claims: tuple[Claim, ...], started: RunStarted) -> Iterator[_Search]:
    """A run that owes a structured output, with its corrections counted, and with the turns that were cut off."""
    owing = attrs.evolve(started, contract=OWES_OUTPUT)
    for name in (OUTPUT_ACCEPTED, turn_whole.name):
        honest = World(hostile=False, calls=OUTPUTS, results=(Status.OK,))
        search = _Search(graph, claims, honest, View(name, epochs=False), most=CORRECTIONS + 2)
        search.run(owing)
        yield search


def _hooked(proofs: Proofs) -> World:
    """An honest world with effects, each of which is put before a hook, and lies about that."""
    return World(hostile=False, calls=EFFECTS, proofs=proofs, results=(Status.OK, Status.CANCELLED), hooks=True)


def _hold_detectors(history: History, view: View) -> None:
    """Detectors count too; what they count is held where a search does not keep it, so that no hint is due."""
    if not view.still:
        history.actions = Actions()
    history.failing = {}
    history.hints = dict.fromkeys((*history.hints, on_course.name), history.turns)


def _gates(graph: Graph) -> Iterable[Gate]:
    return {guard.gate.name: guard.gate for row in graph for guard in row.guards if isinstance(guard, Asked)}.values()


def _minds_standing_still(gate: Gate) -> bool:
    """Whether the gate looks at how long the same calls have had the same results."""
    fresh, stale = History("asked"), History("asked")
    stale.actions = Actions((b"",), (1000,))
    try:
        return type(gate.judge(fresh)) is not type(gate.judge(stale))
    except Exception:  # noqa: BLE001  a gate may need more of a history than this
        return False


def _minds_planning(gate: Gate) -> bool:
    """Whether the gate looks at the permission to plan only."""
    working, planning = History("asked"), History("asked")
    planning.permission = Permission.PLAN
    try:
        return type(gate.judge(working)) is not type(gate.judge(planning))
    except Exception:  # noqa: BLE001  a gate may need more of a history than this
        return False


def _hidden(graph: Graph, base: _Search) -> bool:
    """Something is never even asked: a gate that sends back in any case, until it is tired, hides what comes after."""
    asked = {(row.source, row.event) for row in base.rows}
    return any((row.source, row.event) not in asked for row in graph)


@lru_cache(maxsize=8)
def checked(graph: Graph) -> Report:
    """`check`, as it stands, once for each table and process. Its histories are for reading."""
    return check(graph)


def _report(graph: Graph, searches: list[_Search], base: _Search, standard: tuple[Claim, ...]) -> Report:
    rows, paths = Counter[Row](), dict[Row, tuple[Move, ...]]()
    for search in searches:
        rows.update(search.rows)
        for row, path in search.paths.items() if not search.exhausted else ():
            if row not in paths or len(path) < len(paths[row]):
                paths[row] = path
    for row in graph:
        if row not in rows:
            raise Broken("every_row_is_taken", f"{told(row)} never is")
    idle = set.intersection(*(search.idle for search in searches)) & set(standard)
    if OUTPUT_ACCEPTED not in {gate.name for gate in _gates(graph)}:
        idle.discard(success_hands_in_its_output)
    if idle:
        raise Broken(min(claim.__name__ for claim in idle), "nothing that was explored puts this claim to the test")
    return Report(
        states=sum(len(search.seen) for search in searches),
        transitions=sum(search.transitions for search in searches),
        refused=sum(search.refused for search in searches),
        rows=rows,
        paths={row: paths[row] for row in graph if row in paths},
        codes=frozenset[str]().union(*(search.codes for search in searches)),
        honest_codes=frozenset[str]().union(*(search.codes for search in searches if not search.world.hostile)),
        counted=frozenset(search.view.counted for search in searches if search.view.counted),
        nodes=tuple(node for search in searches for node in search.seen.values()),
        dead=tuple(node for search in searches for node in search.nowhere.values()),
    )


def _minds_repetition(gate: Gate) -> bool:
    """Whether the gate looks at how often the same was said."""
    fresh, stale = History("asked"), History("asked")
    fresh.same_text, stale.same_text = 1, 1000
    try:
        return gate.judge(fresh) != gate.judge(stale)
    except Exception:  # noqa: BLE001  a gate may need more of a history than this
        return True
