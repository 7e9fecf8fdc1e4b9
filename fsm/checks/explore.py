"""Breadth-first search over the real fold, the real gates and the real table, against a hostile environment.

Nodes are histories, told apart by `abstraction.key_of`. Gates count their own retries, so no two counters are kept at
once: a first search holds every counter at zero and finds out which of them a gate reads; then one search for each
of those keeps that counter alone, in an honest world. So each gate runs out of retries, and nothing multiplies.
"""

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Mapping
from typing import Final, Protocol

import attrs

from fsm.graph import Graph, Row
from fsm.machine import Decision, decide
from gates.gate import Asked, Gate
from states.errors import GateError, HistoryError
from states.history import History
from states.names import ENDS, RUNNING, Event, State
from states.records import Cancellation, RunStarted, Transition, UserInput

from .abstraction import View, key_of
from .broken import Broken
from .claims import STANDARD, TWINS, Claim, broken, gates_were_asked, passes_of
from .moves import Move, after, made_by
from .table_walk import Sheet, first_row
from .world import A_READ, STARTED, Proofs, World, proofs

MOST_RETRIES: Final = 32
"""A gate that has sent a run back more often than this, without an end, is taken to do so for ever."""


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
    probed: set[tuple[State, Event | None]] = attrs.field(factory=set)

    def run(self, started: RunStarted) -> None:
        empty = Node(History("explored"), None, Move("nothing yet", ()), 0)
        begin = Move("a run starts", (started, UserInput("the task")))
        self._reach(None, begin, after(empty.history, begin), empty.history)
        while self.queue:
            self._expand(self.queue.popleft())

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
        if kept > MOST_RETRIES:
            raise Broken("retries_are_bounded", f"{counted} has sent the run back {kept} times", (*story, move.label))
        now.retries = Counter({counted: kept} if counted and kept else ())
        if now.failure is not None and now.state is State.FAILED:
            self.codes.add(now.failure.code)
        if now.rest is not None and now.state is State.SUSPENDED:
            self.codes.add(now.rest.waits_for.value)
        key = key_of(now, self.view)
        if key not in self.seen:
            found = Node(now, node, move, node.depth + 1 if node else 0)
            self.seen[key] = found
            self.queue.append(found)

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
    every = (*standard, gates_were_asked(owed), *claims)
    base = _Search(table, every, World(proofs=proofs), View())
    base.run(started)
    searches = [base]
    for gate in _counting(table, base.reads):
        view = View(gate.name, repeats=_minds_repetition(gate), epochs=False)
        calls = {} if view.repeats else A_READ
        lens = _Search(table, every, World(hostile=False, calls=calls, proofs=proofs), view)
        lens.run(started)
        searches.append(lens)
    return _report(table, searches, base, standard)


def _report(graph: Graph, searches: list[_Search], base: _Search, standard: tuple[Claim, ...]) -> Report:
    rows, paths = Counter[Row](), dict[Row, tuple[Move, ...]]()
    for search in searches:
        rows.update(search.rows)
        for row, path in search.paths.items():
            if row not in paths or len(path) < len(paths[row]):
                paths[row] = path
    for row in graph:
        if row not in rows:
            raise Broken(
                "every_row_is_taken",
                f"{row.source} -- {row.event} [{', '.join(g.name for g in row.guards)}] --> {row.target} never is",
            )
    idle = set.intersection(*(search.idle for search in searches)) & set(standard)
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


def _counting(graph: Graph, reads: set[str]) -> Iterator[Gate]:
    """Gates of the graph that looked their retries up, in the order of the table."""
    gates = {guard.gate.name: guard.gate for row in graph for guard in row.guards if isinstance(guard, Asked)}
    return (gate for name, gate in gates.items() if name in reads)


def _minds_repetition(gate: Gate) -> bool:
    """Whether the gate looks at how often the same was said."""
    fresh, stale = History("asked"), History("asked")
    fresh.same_text, stale.same_text = 1, 1000
    try:
        return gate.judge(fresh) != gate.judge(stale)
    except Exception:  # noqa: BLE001  a gate may need more of a history than this
        return True
