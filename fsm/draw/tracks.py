"""How the rows leave their cards: straight down to the next state, or by a stub on one side."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import attrs

from .cards import HEADER, INSET, MARGIN, Card, Side
from .picture import Numbered, Way
from .rails import Exit, Rail, Stub

SPREAD: Final = 6
"""Two stubs of one line are this far above and below its middle."""


@attrs.frozen
class Label:
    """A row's number, where the row leaves its card. `down`: it leaves through the card's foot."""

    numbered: Numbered
    x: int
    y: int
    side: Side
    down: bool = False


@attrs.frozen
class Drop:
    """Straight down to the next state."""

    x: int
    start: int
    end: int
    rows: tuple[Numbered, ...]


@attrs.frozen
class Tracks:
    """How the rows leave their cards."""

    exits: list[Exit] = attrs.field(factory=list)
    drops: list[Drop] = attrs.field(factory=list)
    loops: list[Rail] = attrs.field(factory=list)
    labels: list[Label] = attrs.field(factory=list)


def lay(spine: tuple[Card, ...], aside: tuple[Card, ...], number: int) -> Tracks:
    """Every row of every card, on its way out."""
    next_of = {above.node.state: below.node.state for above, below in pairwise(spine)}
    cards = {card.node.state: card for card in (*spine, *aside)}
    tracks = Tracks()
    for card in cards.values():
        below = next_of.get(card.node.state)
        for placed in card.lines:
            sides: dict[Side, list[Numbered]] = {Side.LEFT: [], Side.RIGHT: []}
            down: list[Numbered] = []
            for numbered in placed.line.rows:
                if numbered.row.target is below and numbered.way is Way.ONWARD:
                    down.append(numbered)
                else:
                    sides[_side(card, cards[numbered.row.target])].append(numbered)
            tracks.labels.extend(_labels(card, placed.y, sides, down, number))
            if below and down:
                tracks.drops.append(Drop(card.middle, card.bottom, cards[below].y, tuple(down)))
            for side, rows in sides.items():
                for numbered, y in zip(rows, _spread(placed.y, len(rows)), strict=True):
                    target = cards[numbered.row.target]
                    if card.aside and target is card:
                        tracks.loops.append(_loop(card, Stub(numbered, card.edge(side), y)))
                    else:
                        tracks.exits.append(Exit(numbered, card, target, _channel(card, target), y))
    return tracks


def _loop(card: Card, stub: Stub) -> Rail:
    return Rail(stub.numbered.way, card.node.state, stub.x + MARGIN * 2 // 3, stub.x, card.y + HEADER // 2, (stub,))


def _channel(source: Card, target: Card) -> Side:
    return Side.RIGHT if source.aside or target.aside else Side.LEFT


def _side(source: Card, target: Card) -> Side:
    """The side of its card on which a row leaves: what stands aside has the right channel on its left."""
    if source.aside:
        return Side.RIGHT if target is source else Side.LEFT
    return _channel(source, target)


def _labels(
    card: Card, y: int, sides: dict[Side, list[Numbered]], down: list[Numbered], number: int
) -> Iterator[Label]:
    """Numbers stand where their rows leave; there is room for one on the left."""
    for numbered in sides[Side.LEFT][:1]:
        yield Label(numbered, card.x + INSET, y, Side.LEFT)
    others = [*sides[Side.LEFT][1:], *sides[Side.RIGHT]]
    right = [*((numbered, True) for numbered in down), *((numbered, False) for numbered in others)]
    for place, (numbered, leaves_below) in enumerate(reversed(right)):
        x = card.edge(Side.RIGHT) - INSET - number * place
        yield Label(numbered, x, y, Side.RIGHT, leaves_below)


def _spread(middle: int, count: int) -> list[int]:
    first = middle - SPREAD * (count - 1)
    return [first + 2 * SPREAD * index for index in range(count)]
