"""Where the states stand: those that run one under another, what rests or failed aside. Pixels, whole numbers."""

from enum import Enum
from typing import Final

import attrs

from states.names import State

from .checklist import Checklist, Line, checklists
from .picture import Node, Picture

WIDTH: Final = 900
"""Pixels: what a README has. Longer names than ours widen the picture."""
MARGIN: Final = 20
TOP: Final = 48
SPINE: Final = 112
"""Left edge of the running states: room for four rails."""
CARD: Final = 362
TEXT: Final = 38
"""From a card's left edge to its words."""
NAME: Final = 8
"""Of one letter of a name, generously: fonts differ."""
INSET: Final = 10
NUMBER: Final = 23
"""Between two row numbers: three digits."""
ASIDE: Final = 256
HEADER: Final = 34
EVENT: Final = 22
LINE: Final = 22
FOOT: Final = 8
GAP: Final = 32

ASIDE_STATES: Final = (State.SUSPENDED, State.FAILED)


class Side(Enum):
    LEFT = -1
    RIGHT = 1


@attrs.frozen
class PlacedLine:
    line: Line
    y: int


@attrs.frozen
class Card:
    """A state with its checklists."""

    node: Node
    aside: bool
    x: int
    y: int
    width: int
    height: int
    events: tuple[tuple[str, int], ...]
    lines: tuple[PlacedLine, ...]

    @property
    def bottom(self) -> int:
        return self.y + self.height

    @property
    def middle(self) -> int:
        return self.x + self.width // 2

    def edge(self, side: Side) -> int:
        return self.x if side is Side.LEFT else self.x + self.width


def spine(drawn: Picture, width: int) -> tuple[Card, ...]:
    cards: list[Card] = []
    y = TOP
    for node in drawn.nodes:
        if node.state not in ASIDE_STATES:
            cards.append(_card(node, checklists(drawn, node.state), SPINE, y, width, aside=False))
            y = cards[-1].bottom + GAP
    return tuple(cards)


def aside(drawn: Picture, left: int, bottom: int, legend_height: int) -> tuple[tuple[Card, ...], int]:
    """What rests stands in the middle, what failed at the bottom; notes come above them."""
    nodes = [node for state in ASIDE_STATES for node in drawn.nodes if node.state is state]
    sized = [_card(node, checklists(drawn, node.state), left, 0, ASIDE, aside=True) for node in nodes]
    notes_y = legend_height + GAP // 2
    y = notes_y + (LINE * (len(drawn.anywhere) + 1) + FOOT + GAP if drawn.anywhere else 0)
    placed: list[Card] = []
    for card in sized:
        lowest = bottom if card is sized[-1] else (bottom + y + card.height) // 2
        placed.append(_moved(card, max(y, lowest - card.height)))
        y = placed[-1].bottom + GAP
    return tuple(placed), notes_y


def _moved(card: Card, y: int) -> Card:
    return attrs.evolve(
        card,
        y=y,
        events=tuple((event, at + y) for event, at in card.events),
        lines=tuple(attrs.evolve(placed, y=placed.y + y) for placed in card.lines),
    )


def _card(node: Node, lists: tuple[Checklist, ...], x: int, y: int, width: int, *, aside: bool) -> Card:
    events: list[tuple[str, int]] = []
    lines: list[PlacedLine] = []
    below = y + HEADER
    for place, checklist in enumerate(lists):
        events.append((checklist.event.value, below + EVENT // 2 if place else y + HEADER // 2))
        below += EVENT if place else 0  # the first event stands beside the state's name
        for line in checklist.lines:
            lines.append(PlacedLine(line, below + LINE // 2))
            below += LINE
    below += FOOT if lines else 0
    below += LINE if aside and lines else 0  # rails arrive under what leaves, and cross none of it
    return Card(node, aside, x, y, width, below - y, tuple(events), tuple(lines))


def aside_x(card: int) -> int:
    """The left edge of what stands aside, beside running states of this width."""
    return WIDTH - MARGIN - ASIDE + card - CARD


def width(drawn: Picture, number: int) -> int:
    """Of a running state's card: as much as its longest line needs, with so many pixels between two row numbers."""
    lines = (line for node in drawn.nodes for checklist in checklists(drawn, node.state) for line in checklist.lines)
    return max((CARD, *(_needed(line, number) for line in lines)))


def _needed(line: Line, number: int) -> int:
    letters = len(line.name) + sum(len(also) + 2 for also in line.also)
    return TEXT + NAME * letters + number * (len(line.rows) - 1) + 2 * INSET
