"""Random walks of the real loop over a journal with faults, from the start and from everywhere that `explore` found.

A step is whatever can happen next: an answer, a result, words, a cancellation, a crash, a commit that fails, another
owner. What must never happen is checked when it could: as a tool starts, as a request is made, as a record becomes
durable, as an event is shown, and as the run ends. Rows of the table that no walk ever took fail the test.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import attrs

try:
    from hypothesis import HealthCheck, Phase, settings
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "fsm.checks.walk needs Hypothesis, of the extra `testing`: pip install 'interlock[testing]'"
    ) from error

from fsm.graph import Graph, Row
from states.names import Event, State

from .broken import Broken
from .choices import Choice
from .claims import STANDARD, Claim, gates_were_asked, passes_of
from .deeds import MakeLoop, graph_of
from .moves import told
from .replay import Prefix, starts
from .walker import Walker

NOT_JOURNALED: Final = "when the store fails, nothing can be written down about it"
SHARE: Final = 0.5
"""Part of the rows that the random walks have to take by themselves, once there are `ENOUGH` of them. Measured: eight
seeds of 150 walks took 47 to 54 of 68 rows (69 % to 79 %; which ones is chance: a gate's last retry, or the end of the
time in that very moment). Half is far outside of that spread, so only walks that do not get around fall below it."""
ENOUGH: Final = 100
FOLLOWED: Final = 6
"""Steps for which each past is followed before the random walks begin."""


STEPS: Final = 30
"""Steps of one walk, where `check` sets them."""


@attrs.frozen
class Walked:
    """What `check` did."""

    walks: int
    rows: int

    def __str__(self) -> str:
        return f"{self.walks} walks, {self.rows} rows taken"


_named: Final[Counter[tuple[str, str]]] = Counter()
"""Names that were given to classes, by module: two of one name would share their examples."""


def of(
    make_loop: MakeLoop,
    *,
    claims: tuple[Claim, ...] = (),
    exempt: Mapping[Row, str] | None = None,
    name: str = "",
) -> Any:  # Hypothesis makes the class at run time
    """A class whose `.TestCase` walks the loops that `make_loop` makes, as many and as far as Hypothesis is set to.

    claims: further ones. exempt: rows that need not be taken, with the reason. name: of the class (default: after
    `make_loop`). Hypothesis files its examples under it, so a second one of a name gets a number.
    """
    graph = graph_of(make_loop)
    module = getattr(make_loop, "__module__", __name__)
    name = name or f"Walk_{getattr(make_loop, '__name__', 'loop')}"
    _named[module, name] += 1
    if _named[module, name] > 1:
        name = f"{name}_{_named[module, name]}"
    members = {
        "__module__": module,
        "__qualname__": f"{name}Machine",
        "make_loop": staticmethod(make_loop),
        "graph": graph,
        "claims": (*STANDARD, gates_were_asked(passes_of(graph)), *claims),
        "visited": Counter[Row](),
    }
    machine: type[Walker] = type(f"{name}Machine", (Walker,), members)
    excused = {row: NOT_JOURNALED for row in graph if row.event is Event.COMMIT_FAILED} | dict(exempt or {})

    class Case(machine.TestCase):  # type: ignore[name-defined,misc]  # Hypothesis makes this class at run time
        def runTest(self) -> None:  # noqa: N802  unittest's name
            machine.starts = starts(graph)
            machine.visited.clear()
            super().runTest()
            alone = Counter(machine.visited)
            for start in machine.starts:
                _follow(machine, start)
            _covered(graph, alone, machine.visited, excused, Case.settings.max_examples)

    Case.__name__ = Case.__qualname__ = name
    Case.__module__ = module
    return type(name, (), {"TestCase": Case, "machine": machine, "__module__": module})


def _follow(machine: type[Walker], start: Prefix) -> None:
    """Take up one past and let the run go on in the way in which the search went on, undisturbed."""
    walker = machine()
    try:
        walker.step_now(Choice(start.name, lambda: walker.take_up(start)))
        for _ in range(FOLLOWED):
            walker.step_now(next((c for group in walker.groups() for c in group), Choice("nothing", lambda: None)))
    finally:
        walker.teardown()


def check(
    make_loop: MakeLoop, *, walks: int, claims: tuple[Claim, ...] = (), exempt: Mapping[Row, str] | None = None
) -> Walked:
    """So many walks without pytest, the same ones each time. Raises Broken, after the shortest walk was printed.

    walks: examples of Hypothesis. claims, exempt: as for `of`.
    """
    made = of(make_loop, claims=claims, exempt=exempt, name="Proof")
    made.TestCase.settings = settings(
        max_examples=walks,
        stateful_step_count=STEPS,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much),
    )
    made.TestCase("runTest").debug()
    return Walked(walks, len([row for row in made.machine.graph if made.machine.visited[row]]))


def _covered(
    graph: Graph, alone: Counter[Row], visited: Counter[Row], excused: Mapping[Row, str], examples: int
) -> None:
    """A walk that never got somewhere has shown nothing about it."""
    due = [row for row in graph if row not in excused]
    missed = [row for row in due if not visited[row]]
    missed += [row for row in due if row.target is State.SUCCEEDED and not alone[row] and row not in missed]
    if missed:
        raise Broken("every_row_is_taken", f"{len(missed)} rows were never taken", [told(row) for row in missed])
    taken = sum(alone[row] > 0 for row in due)
    if examples >= ENOUGH and taken < SHARE * len(due):
        raise Broken("walks_get_around", f"the random walks took only {taken} of {len(due)} rows")
