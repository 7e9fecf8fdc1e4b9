"""Rails: a rail belongs to one target and one way of getting there, so forty rows need only a handful of them.

Short rails run inside long ones, and rails arrive in the order in which they run: that keeps crossings few.
"""

from collections.abc import Iterable
from typing import Final

import attrs

from states.names import State

from .cards import FOOT, HEADER, LINE, MARGIN, SPINE, Card, Side, aside_x
from .picture import Numbered, Way

RAIL: Final = 20
"""Between two rails."""
APPROACH: Final = 30
"""Between a card and its first rail: room for a merge and an arrowhead."""
PORT: Final = 14
"""Between two rails where they arrive."""


@attrs.frozen
class Stub:
    """Where one row leaves its card."""

    numbered: Numbered
    x: int
    y: int


@attrs.frozen
class Rail:
    """One target, one way: where its stubs run together and where they arrive."""

    way: Way
    target: State
    x: int
    end_x: int
    end_y: int
    stubs: tuple[Stub, ...]


@attrs.frozen
class Exit:
    """A row that leaves by a stub, on one side of the running states."""

    numbered: Numbered
    source: Card
    target: Card
    side: Side
    y: int


@attrs.frozen
class _Bundle:
    """Exits of one channel that share a rail."""

    side: Side
    way: Way
    from_aside: bool
    target: Card
    exits: tuple[Exit, ...]

    @property
    def span(self) -> int:
        ys = [leaving.y for leaving in self.exits] + [self.target.y]
        return max(ys) - min(ys)

    @property
    def rises(self) -> bool:
        return max(leaving.y for leaving in self.exits) > self.target.y + HEADER


def rails(exits: Iterable[Exit], card: int) -> tuple[Rail, ...]:
    """The rails that the exits run on. `card`: the width of a running state's card."""
    groups: dict[tuple[Side, Way, bool, State], list[Exit]] = {}
    for leaving in exits:
        key = (leaving.side, leaving.numbered.way, leaving.source.aside, leaving.target.node.state)
        groups.setdefault(key, []).append(leaving)
    bundles = [
        _Bundle(side, way, from_aside, group[0].target, tuple(group))
        for (side, way, from_aside, _), group in groups.items()
    ]
    found: list[Rail] = []
    for side in Side:
        inside_first = sorted(
            (bundle for bundle in bundles if bundle.side is side),
            key=lambda bundle: (bundle.from_aside, bundle.span),
        )
        ports = _ports(inside_first)
        first, last = _bounds(side, card)
        step = min(RAIL, abs(last - first) // max(1, len(inside_first) - 1))
        found += [
            _rail(bundle, first + side.value * step * level, ports[level]) for level, bundle in enumerate(inside_first)
        ]
    return tuple(found)


def _bounds(side: Side, card: int) -> tuple[int, int]:
    """Where the first rail of a side can run, and the last."""
    if side is Side.LEFT:
        return SPINE - APPROACH, MARGIN
    return SPINE + card + APPROACH, aside_x(card) - APPROACH


def _rail(bundle: _Bundle, x: int, end_y: int) -> Rail:
    return Rail(
        bundle.way,
        bundle.target.node.state,
        x,
        _face(bundle.target, bundle.side),
        end_y,
        tuple(Stub(leaving.numbered, _face(leaving.source, bundle.side), leaving.y) for leaving in bundle.exits),
    )


def _face(card: Card, side: Side) -> int:
    """The x at which a channel touches a card: what stands aside has the right channel on its left."""
    return card.edge(Side.LEFT if card.aside else side)


def _ports(bundles: list[_Bundle]) -> list[int]:
    """The y at which each bundle arrives. Rising ones from outside in, then falling ones from inside out."""
    ports = [0] * len(bundles)
    for card in {bundle.target.node.state: bundle.target for bundle in bundles}.values():
        here = [level for level, bundle in enumerate(bundles) if bundle.target is card]
        rising = [level for level in reversed(here) if bundles[level].rises]
        order = [*rising, *(level for level in here if level not in rising)]
        middle = card.bottom - FOOT - LINE // 2 if card.aside and card.lines else card.y + HEADER // 2
        first = middle - PORT * (len(order) - 1) // 2
        for place, level in enumerate(order):
            ports[level] = first + PORT * place
    return ports
