"""The whole track plan of a picture. Whole numbers only, so that no machine rounds differently."""

import attrs

from .cards import CARD, MARGIN, NUMBER, WIDTH, Card, aside, aside_x, spine, width
from .picture import Picture
from .rails import Rail, rails
from .tracks import Drop, Label, lay


@attrs.frozen
class Plan:
    """Everything that is drawn, with its place. Pixels."""

    cards: tuple[Card, ...]
    rails: tuple[Rail, ...]
    drops: tuple[Drop, ...]
    labels: tuple[Label, ...]
    aside_x: int
    notes_y: int
    width: int
    height: int


def plan(drawn: Picture, legend_height: int, number: int = NUMBER) -> Plan:
    """The track plan. Pixels: legend_height to keep free at the upper right, number between two row numbers."""
    card = width(drawn, number)
    running = spine(drawn, card)
    resting, notes_y = aside(drawn, aside_x(card), max(placed.bottom for placed in running), legend_height)
    tracks = lay(running, resting, number)
    return Plan(
        (*running, *resting),
        (*rails(tracks.exits, card), *tracks.loops),
        tuple(tracks.drops),
        tuple(tracks.labels),
        aside_x(card),
        notes_y,
        WIDTH + card - CARD,
        max(placed.bottom for placed in (*running, *resting)) + MARGIN,
    )
