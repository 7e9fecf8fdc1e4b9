"""The table as an SVG that follows the reader's light or dark scheme. Needs nothing but the standard library."""

from typing import Final
from xml.etree import ElementTree as ET

from fsm.graph import Graph
from states.names import State

from .cards import ASIDE, FOOT, HEADER, INSET, LINE, NUMBER, TEXT, Card, Side
from .layout import Plan, plan
from .marks import PLAIN, Marks
from .picture import Anywhere, Kind, Numbered, Way, numbers, picture
from .rails import Rail, Stub
from .theme import Theme, sheet
from .tracks import Drop, Label

CORNER: Final = 9
ROW_HEIGHT: Final = 22
KEY: Final = (
    (Way.ONWARD, "onward"),
    (Way.RETRY, "retry: back to the model"),
    (Way.SUSPEND, "suspend: at rest, until resumed"),
    (Way.FAIL, "fail: an end, with its reason"),
)
CAPTION: Final = (
    "Gates are asked from top to bottom.",
    "Slanted names are facts: they only look.",
    "Numbers are rows of the table.",
)
TRACKS: Final = {"took": "taken", "added": "track added", "removed": "track removed"}
HEADS: Final = {"took": "took", "added": "head added", "removed": "head removed"}
SIGNED: Final = 32
"""Between two row numbers with a sign, such as +12."""


def svg(graph: Graph, marks: Marks = PLAIN, part: State | None = None, *, theme: Theme = Theme.AUTO) -> str:
    """The table as SVG. marks: what stands out. part: one state and the rows that lead out of it.

    Raises ConfigError for a part that no row leads out of.
    """
    drawn = picture(graph, part)
    keys = _keys(marks)
    height = 44 + ROW_HEIGHT * max(len(keys), len(KEY) + 1) + 18 * len(CAPTION)
    planned = plan(drawn, height, SIGNED if marks.compares else NUMBER)
    root = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": str(planned.width),
            "height": str(planned.height),
            "viewBox": f"0 0 {planned.width} {planned.height}",
            "role": "img",
        },
    )
    ET.SubElement(root, "title").text = _title(marks, part)
    style = sheet(theme, compares=marks.compares)
    ET.SubElement(root, "style").text = style
    _box(root, "ground", (0, 0, planned.width, planned.height), 10)
    tracks = ET.SubElement(root, "g", {"class": "faded"} if marks.striking else {})
    for rail in planned.rails:
        _rail(tracks, rail)
    for drop in planned.drops:
        _drop(tracks, drop, "track onward main", "head onward")
    _striking(root, planned, marks)
    _start(root, planned)
    for card in planned.cards:
        _card(root, card, marks)
    for label in planned.labels:
        _label(root, label, marks)
    _times(root, planned, marks)
    _notes(root, drawn.anywhere, planned, marks, everywhere=part is None)
    _legend(root, planned.aside_x, keys)
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


# --- tracks ---------------------------------------------------------------------------------------------------------


def _rail(root: ET.Element, rail: Rail) -> None:
    """Stubs first, each with a gap cut into the rails that it crosses; then the rail over their ends."""
    for stub in rail.stubs:
        side = 1 if rail.x > stub.x else -1
        _path(root, "gap", f"M{stub.x + side} {stub.y}H{rail.x - side * CORNER}")
    side = 1 if rail.x > rail.end_x else -1
    _path(root, "gap", f"M{rail.end_x + side} {rail.end_y}H{rail.x - side * CORNER}")
    arrived = False
    for stubs in (
        [stub for stub in rail.stubs if stub.y <= rail.end_y],
        [stub for stub in rail.stubs if stub.y > rail.end_y],
    ):
        farthest = max(stubs, key=lambda stub: abs(stub.y - rail.end_y), default=None)
        for stub in stubs:
            route = _merge(stub, rail)
            if stub is farthest:
                route += _along(stub, rail) + ("" if arrived else _arrival(rail))
                arrived = True
            _path(root, f"track {rail.way}", route)
    _arrow(root, f"head {rail.way}", rail.end_x, rail.end_y, side)


def _striking(root: ET.Element, planned: Plan, marks: Marks) -> None:
    """The whole way of each row that stands out, over everything else."""
    for rail in planned.rails:
        for stub in rail.stubs:
            look = marks.look(stub.numbered.number)
            if look:
                route = _merge(stub, rail) + _along(stub, rail) + _arrival(rail)
                _path(root, TRACKS[look], route)
                _arrow(root, HEADS[look], rail.end_x, rail.end_y, 1 if rail.x > rail.end_x else -1)
    for drop in planned.drops:
        look = _first_look(drop.rows, marks)
        if look:
            _drop(root, drop, TRACKS[look], HEADS[look])


def _first_look(rows: tuple[Numbered, ...], marks: Marks) -> str:
    return next(filter(None, (marks.look(numbered.number) for numbered in rows)), "")


def _times(root: ET.Element, planned: Plan, marks: Marks) -> None:
    """How often a row was taken, where it leaves its card."""
    for rail in planned.rails:
        for stub in rail.stubs:
            times = marks.times(stub.numbered.number)
            if times:
                side = 1 if rail.x > stub.x else -1
                _text(root, "times", (stub.x + side * 6, stub.y - 4), times, "start" if side > 0 else "end")
    for drop in planned.drops:
        count = sum(marks.taken.get(numbered.number, 0) for numbered in drop.rows)
        if count > 1:
            _text(root, "times", (drop.x + 9, (drop.start + drop.end) // 2), f"×{count}")


def _merge(stub: Stub, rail: Rail) -> str:
    """From a card to the rail, turning into its direction like a switch."""
    side = 1 if rail.x > stub.x else -1
    turn, corner = _turn(stub, rail)
    return f"M{stub.x} {stub.y}H{rail.x - side * corner}Q{rail.x} {stub.y} {rail.x} {stub.y + turn * corner}"


def _along(stub: Stub, rail: Rail) -> str:
    """Along the rail, and out of it towards the target."""
    side = 1 if rail.x > rail.end_x else -1
    turn, corner = _turn(stub, rail)
    return f"V{rail.end_y - turn * corner}Q{rail.x} {rail.end_y} {rail.x - side * corner} {rail.end_y}"


def _arrival(rail: Rail) -> str:
    return f"H{rail.end_x + (5 if rail.x > rail.end_x else -5)}"


def _turn(stub: Stub, rail: Rail) -> tuple[int, int]:
    """Down (1) or up (-1), and the radius that fits."""
    return (1 if rail.end_y > stub.y else -1), min(CORNER, abs(rail.end_y - stub.y) // 2)


def _drop(root: ET.Element, drop: Drop, track: str, head: str) -> None:
    _path(root, track, f"M{drop.x} {drop.start}V{drop.end - 5}")
    _falling(root, head, drop.x, drop.end)


def _start(root: ET.Element, planned: Plan) -> None:
    first = next((card for card in planned.cards if card.node.kind is Kind.INITIAL), None)
    if first is None:
        return
    ET.SubElement(root, "circle", {"class": "head onward", "cx": str(first.middle), "cy": str(first.y - 26), "r": "6"})
    _path(root, "track onward", f"M{first.middle} {first.y - 24}V{first.y - 5}")
    _falling(root, "head onward", first.middle, first.y)


# --- cards ----------------------------------------------------------------------------------------------------------


def _card(root: ET.Element, card: Card, marks: Marks) -> None:
    look = f"card {card.node.kind} {card.node.state}"
    outer = f"{look} here" if card.node.state is marks.here else look
    _box(root, outer, (card.x, card.y, card.width, card.height), 8)
    if card.node.kind is Kind.END:
        _box(root, look, (card.x + 4, card.y + 4, card.width - 8, card.height - 8), 5)
    alone = not card.lines
    at, anchor = (card.middle, "middle") if alone else (card.x + TEXT, "start")
    name = _text(root, f"state {card.node.state}", (at, card.y + HEADER // 2 + 5), card.node.state.value, anchor)
    if card.node.state in marks.spent:
        ET.SubElement(name, "tspan", {"class": "also", "dx": "9"}).text = marks.spent[card.node.state]
    for place, (event, y) in enumerate(card.events):
        _text(root, "event", (card.x + card.width - INSET, y + 4), event, "end")
        if place:
            _path(root, "rule", f"M{card.x + TEXT} {y}H{card.x + card.width - INSET - 7 * len(event) - 6}")
    for placed in card.lines:
        name = _text(root, placed.line.asks.value, (card.x + TEXT, placed.y + 4), placed.line.name)
        if placed.line.also:
            ET.SubElement(name, "tspan", {"class": "also", "dx": "9"}).text = ", ".join(placed.line.also)


def _label(root: ET.Element, label: Label, marks: Marks) -> None:
    look = marks.look(label.numbered.number) or label.numbered.way.value
    name = marks.name(label.numbered.number)
    words = f"{name}\u2009\u2193" if label.down else name
    anchor = "start" if label.side is Side.LEFT else "end"
    _text(root, f"number {look}", (label.x, label.y + 4), words, anchor)


# --- words beside the cards -----------------------------------------------------------------------------------------


def _notes(root: ET.Element, notes: tuple[Anywhere, ...], planned: Plan, marks: Marks, *, everywhere: bool) -> None:
    if not notes:
        return
    x, y = planned.aside_x, planned.notes_y
    _box(root, "note", (x, y, ASIDE, LINE * (len(notes) + 1) + FOOT), 8)
    _text(root, "small", (x + 12, y + 17), "from every running state" if everywhere else "as from every running state")
    for place, note in enumerate(notes, 1):
        look = _first_look(note.rows, marks) or str(note.way)
        text = _text(root, "gate", (x + 12, y + 17 + LINE * place), note.event.value)
        arrow = ET.SubElement(text, "tspan", {"class": look, "dx": "7"})
        arrow.text = f"→ {note.target}"
        first = next((row for row in note.rows if marks.look(row.number)), note.rows[0])
        told = marks.name(first.number) if marks.compares else numbers(note.rows)
        more = "…" if marks.compares and len(note.rows) > 1 else ""
        right = x + ASIDE - INSET
        _text(root, f"number {look}", (right, y + 17 + LINE * place), told.replace(" to ", "–") + more, "end")


def _title(marks: Marks, part: State | None) -> str:
    what = "The loop" if part is None else f"{part} in the loop"
    if marks.compares:
        return f"{what}: the rows that were added and removed"
    if marks.here is not None:
        return f"{what}: the way of a session, which {marks.stands.replace('here', f'in {marks.here}', 1)}"
    return "The loop: every move that a run can make" if part is None else f"{what}: every move that leads out of it"


def _keys(marks: Marks) -> list[tuple[str, str, str]]:
    """What the legend explains: track, arrowhead, words."""
    keys = [(f"track {way}", f"head {way}", words) for way, words in KEY]
    if marks.taken:
        keys.append((TRACKS["took"], HEADS["took"], "taken by this session (× how often)"))
    if marks.compares:
        keys.append((TRACKS["added"], HEADS["added"], "+ added"))
        keys.append((TRACKS["removed"], HEADS["removed"], "− removed"))
    return keys


def _legend(root: ET.Element, x: int, keys: list[tuple[str, str, str]]) -> None:
    y = 34
    for track, head, words in keys:
        _path(root, track, f"M{x} {y}H{x + 26}")
        _arrow(root, head, x + 34, y, -1)
        _text(root, "small", (x + 44, y + 4), words)
        y += ROW_HEIGHT
    for words in CAPTION:
        _text(root, "small dim", (x, y + 8), words)
        y += 18


# --- shapes ---------------------------------------------------------------------------------------------------------


def _box(root: ET.Element, look: str, place: tuple[int, int, int, int], radius: int) -> None:
    """A rounded box; `place` is x, y, width, height."""
    size = zip(("x", "y", "width", "height", "rx"), (*place, radius), strict=True)
    ET.SubElement(root, "rect", {"class": look} | {name: str(value) for name, value in size})


def _text(root: ET.Element, look: str, at: tuple[int, int], words: str, anchor: str = "start") -> ET.Element:
    x, y = at
    text = ET.SubElement(root, "text", {"class": look, "x": str(x), "y": str(y), "text-anchor": anchor})
    text.text = words
    return text


def _path(root: ET.Element, look: str, route: str) -> None:
    ET.SubElement(root, "path", {"class": look, "d": route})


def _arrow(root: ET.Element, look: str, x: int, y: int, side: int) -> None:
    """An arrowhead whose tip is at x, coming from the given side."""
    _triangle(root, look, [(x, y), (x + side * 9, y - 5), (x + side * 9, y + 5)])


def _falling(root: ET.Element, look: str, x: int, y: int) -> None:
    """An arrowhead whose tip is at y, coming from above."""
    _triangle(root, look, [(x, y), (x - 5, y - 9), (x + 5, y - 9)])


def _triangle(root: ET.Element, look: str, points: list[tuple[int, int]]) -> None:
    ET.SubElement(root, "polygon", {"class": look, "points": " ".join(f"{x},{y}" for x, y in points)})
