"""The static check: what a table promises can be read off its rows, without running anything.

Works on any table. Reachability is that of the drawing: it follows rows and believes no guard to be impossible.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from fsm.graph import Graph
from gates.gate import Asked, Fact, Gate
from states.names import Event, State
from states.verdicts import Pass

from . import rulings, ways
from .broken import Broken
from .finding import Finding
from .reading import asked, told

_NAME: Final = re.compile(r"[A-Za-z0-9_]+")


def check(graph: Graph) -> list[Finding]:
    """Everything that is wrong with a table; nothing, if it keeps its promises. Wrong names hide the rest."""
    return list(names(graph)) or [finding for look in CHECKS for finding in look(graph)]


def prove(graph: Graph) -> None:
    """Raise Broken with every finding, if there is any."""
    found = check(graph)
    if found:
        raise Broken("shape", f"{len(found)} finding{'s' * (len(found) > 1)}", [str(finding) for finding in found])


def names(graph: Graph) -> Iterator[Finding]:
    for number, row in enumerate(graph, 1):
        for what, value, kind in (
            ("source", row.source, State),
            ("event", row.event, Event),
            ("target", row.target, State),
        ):
            if not isinstance(value, kind):
                yield Finding("names", f"row {number}: its {what} {value!r} is no {kind.__name__}", (number,))
        for guard in row.guards:
            if not isinstance(guard, Asked | Fact):
                yield Finding("names", f"row {number}: {guard!r} is no guard; ask a gate (gate.passes)", (number,))
                continue
            name = guard.gate.name if isinstance(guard, Asked) else guard.name
            if not _NAME.fullmatch(name):
                message = f"row {number}: the name {name!r} has more in it than letters, digits and underscores"
                yield Finding("names", message, (number,))
            if isinstance(guard, Asked) and guard.kind not in (Pass, *guard.gate.may):
                message = f"{told(graph, number)} asks for {guard.name!r}, which that gate does not declare in `may`"
                yield Finding("names", message, (number,))


def one_gate_a_name(graph: Graph) -> Iterator[Finding]:
    seen: dict[str, Gate] = {}
    doubled: set[str] = set()
    for number, guard in ((number, guard) for number, row in enumerate(graph, 1) for guard in asked(row)):
        first = seen.setdefault(guard.gate.name, guard.gate)
        if first != guard.gate and guard.gate.name not in doubled:
            doubled.add(guard.gate.name)
            message = f"two gates are called {guard.gate.name!r}; {told(graph, number)} asks the second"
            yield Finding("gate names", message, (number,))


CHECKS: Final[tuple[Callable[[Graph], Iterator[Finding]], ...]] = (
    one_gate_a_name,
    ways.reachable,
    ways.ends,
    ways.way_to_success,
    ways.cycles,
    ways.always,
    rulings.dead_rows,
    rulings.gaps,
    rulings.order,
    rulings.objections,
    ways.bare,
    ways.last_step,
    ways.cut,
    ways.receipt,
)
