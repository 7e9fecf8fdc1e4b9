"""Mermaid, DOT, SVG and PNG: legible, safe, and the same bytes everywhere."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fsm.checks.mutants import mutants
from fsm.draw import Marks, difference, dot, legend, markdown, mermaid, png, svg, terminal
from fsm.draw.marks import PLAIN
from fsm.draw.picture import picture
from fsm.graph import AT_VERIFY, GRAPH, Row, table
from gates.checks_passed import checks_passed
from gates.facts import says_done
from gates.gate import Gate
from states.errors import ConfigError
from states.names import Event, State
from states.verdicts import Fail, Pass, Retry, Suspend

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


class Odd(Gate):
    """A gate whose name no picture can show as it is."""

    name = 'a"]; <b>x</b> | y & z'
    may = (Retry, Fail)

    def judge(self, history):
        return Pass()


class Long(Gate):
    name = "a_gate_whose_name_is_much_longer_than_any_of_those_that_come_with_the_library"
    may = (Retry, Fail)

    def judge(self, history):
        return Pass()


def drawn(graph=GRAPH, marks=PLAIN, part=None):
    return ET.fromstring(svg(graph, marks, part))  # our own text


def labels(root):
    return [text.text.split("\u2009")[0] for text in root.iter(f"{SVG}text") if text.get("class").startswith("number ")]


def test_mermaid_draws_every_edge_once_and_names_every_state():
    text = mermaid(GRAPH)

    arrows = re.findall(r"^    (\w+) (?:-->|-\.->|-\.-o|--x)\|[^|]*\| (\w+)$", text, re.MULTILINE)
    pairs = [(source, target) for source, target in arrows if source != "anywhere"]
    assert pairs == [(edge.source.value, edge.target.value) for edge in picture(GRAPH).edges]
    assert len(arrows) == len(pairs) + 2
    assert all(f"<b>{state}</b>" in text for state in State)


@pytest.mark.parametrize("graph", [GRAPH, table(at_verify=(*AT_VERIFY, Odd()))], ids=["ours", "odd name"])
def test_mermaid_labels_are_made_of_safe_characters(graph):
    words = re.findall(r'\|([^|]*)\||"([^"]*)"', mermaid(graph))

    plain = [re.sub(r"</?[bi]>|<br/>", " ", edge or node) for edge, node in words]
    assert plain
    assert all(re.fullmatch(r"[A-Za-z0-9_ ,]+", label) for label in plain)


def test_mermaid_hard_codes_no_colour():
    assert not re.search(r"#[0-9a-f]{3}|style|classDef|%%\{", mermaid(GRAPH))


def test_dot_survives_an_odd_name():
    quotes = [line.count('"') for line in dot(table(at_verify=(*AT_VERIFY, Odd()))).splitlines()]

    assert all(count % 2 == 0 for count in quotes)


def test_svg_shows_every_row_number_once():
    noted = {row.number for note in picture(GRAPH).anywhere for row in note.rows}

    shown = [int(label) for label in labels(drawn()) if label.isdigit()]
    assert sorted(shown) == [number for number in range(1, len(GRAPH) + 1) if number not in noted]


def test_svg_survives_an_odd_name():
    texts = [text.text for text in drawn(table(at_verify=(*AT_VERIFY, Odd()))).iter(f"{SVG}text")]

    assert Odd.name in texts


def test_svg_follows_the_readers_colour_scheme():
    style = drawn().find(f"{SVG}style").text

    light, dark = style.split("@media (prefers-color-scheme:dark)")
    assert ".ground{fill:#ffffff}" in light
    assert ".ground{fill:#0d1117}" in dark
    assert set(re.findall(r"\.[\w.]+\{(?:fill|stroke):#", dark)) <= set(
        re.findall(r"\.[\w.]+\{(?:fill|stroke):#", light)
    )


def test_svg_loads_nothing():
    assert "http" not in svg(GRAPH).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"<script|<image|url\(|@import|@font-face", svg(GRAPH))


def test_svg_is_as_wide_as_a_readme_and_grows_for_a_long_name():
    ours, long = drawn(), drawn(table(at_verify=(*AT_VERIFY, Long())))

    assert 900 <= int(ours.get("width")) <= 1012  # what a README's column holds
    assert int(long.get("width")) > int(ours.get("width"))


@pytest.mark.parametrize("name", ["ours", "long"])
def test_svg_stays_within_its_canvas(name):
    root = drawn(GRAPH if name == "ours" else table(at_verify=(*AT_VERIFY, Long())))

    width, height = int(root.get("width")), int(root.get("height"))
    for box in root.iter(f"{SVG}rect"):
        assert 0 <= int(box.get("x")) <= int(box.get("x")) + int(box.get("width")) <= width
        assert 0 <= int(box.get("y")) <= int(box.get("y")) + int(box.get("height")) <= height
    for text in root.iter(f"{SVG}text"):
        assert 0 < int(text.get("x")) < width
        assert 0 < int(text.get("y")) < height
    for path in root.iter(f"{SVG}path"):
        assert all(0 <= int(x) <= width for x in re.findall(r"[MH](-?\d+)", path.get("d")))


def test_cards_do_not_overlap():
    boxes = [
        (int(box.get("x")), int(box.get("y")), int(box.get("width")), int(box.get("height")))
        for box in drawn().iter(f"{SVG}rect")
        if box.get("class") != "ground" and box.get("rx") == "8"
    ]

    assert len(boxes) == len(State) + 1
    for index, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[index + 1 :]:
            apart_x = x + width <= other_x or other_x + other_width <= x
            apart_y = y + height <= other_y or other_y + other_height <= y
            assert apart_x or apart_y


def test_taken_rows_stand_out_in_every_format():
    by_target = {(row.source, row.target): number for number, row in enumerate(GRAPH, 1) if row.guards}
    start = by_target[State.PROVIDER_TURN, State.CANDIDATE_FINAL]
    down = by_target[State.CANDIDATE_FINAL, State.VERIFY]
    taken = Marks({start: 1, down: 3}, {State.VERIFY: "3×, 1.20 s"}, State.VERIFY, "stands here")
    root = drawn(marks=taken)

    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "taken"]) == 3  # and the legend's
    took = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "number took"]
    assert sorted(int(words.split("\u2009")[0]) for words in took) == sorted(taken.taken)
    assert [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "times"] == ["×3"]
    assert "3×, 1.20 s" in [span.text for span in root.iter(f"{SVG}tspan")]
    assert [box.get("class") for box in root.iter(f"{SVG}rect") if "here" in box.get("class")] == [
        "card running verify here"
    ]
    assert "taken by this session" in svg(GRAPH, taken)
    assert "taken by this session" not in svg(GRAPH)
    assert re.findall(r"(\w+) ==>\S.* (\w+)$", mermaid(GRAPH, taken), re.MULTILINE) == [
        ("provider_turn", "candidate_final"),
        ("candidate_final", "verify"),
    ]
    assert dot(GRAPH, taken).count("penwidth=3") == 3  # and the state where it stands
    assert f"| **{start}** |" in legend(GRAPH, taken)
    assert f"| **{down} ×3** |" in legend(GRAPH, taken)
    assert "verify  (3×, 1.20 s; stands here)" in terminal(GRAPH, taken)
    assert f"→ verify *{down} ×3" in terminal(GRAPH, taken)


def test_the_legend_has_every_row_in_order():
    lines = legend(GRAPH).splitlines()[2:]

    first = [int(re.match(r"\| (\d+)", line)[1]) for line in lines]
    assert first == sorted(first)
    noted = sum(len(note.rows) - 1 for note in picture(GRAPH).anywhere)
    assert len(lines) == len(GRAPH) - noted
    assert "| verify | verified | `independently_verified passes`, `checks_passed passes` | stop_hook |" in legend(
        GRAPH
    )


def test_the_same_table_gives_the_same_bytes_in_another_process():
    code = (
        "import sys; from fsm.draw.write import render_all; from fsm.graph import GRAPH; "
        "sys.stdout.buffer.write(b''.join(render_all(GRAPH).values()))"
    )

    def render(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        return subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True).stdout

    first = render("1")
    assert len(first) > 10_000
    assert first == render("2")


def test_a_damaged_table_is_drawn_all_the_same():
    """Whoever repairs a table wants to look at it."""
    for _, graph in list(mutants(GRAPH))[::11]:
        root = drawn(graph)
        assert int(root.get("width")) >= 900
        assert mermaid(graph).startswith("flowchart")
        assert dot(graph).startswith("digraph")


def test_an_empty_table_is_drawn_as_its_start():
    states = [text.text for text in drawn(()).iter(f"{SVG}text") if text.get("class").startswith("state")]

    assert states == ["provider_turn"]


def test_rows_between_any_two_states_can_be_drawn():
    everywhere = tuple(Row(one, Event.REPLIED, (says_done,), other) for one in State for other in State)

    numbers = [int(label) for label in labels(drawn(everywhere))]
    assert sorted(numbers) == list(range(1, len(everywhere) + 1))


def test_png_is_the_picture():
    pytest.importorskip("resvg_py")

    light, dark = png(GRAPH, zoom=1), png(GRAPH, zoom=1, dark=True)
    assert light.startswith(b"\x89PNG\r\n\x1a\n")
    assert 900 <= int.from_bytes(light[16:20]) <= 1012
    assert light != dark


def test_png_without_the_extra_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)

    with pytest.raises(ConfigError, match=r"extra `diagrams`.*interlock\[diagrams\]"):
        png(GRAPH)


# --- a part, and many gates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [state for state in State if any(row.source is state for row in GRAPH)])
def test_a_part_is_one_state_with_every_row_that_leads_out_of_it(part):
    rows = {number for number, row in enumerate(GRAPH, 1) if row.source is part}

    root = drawn(part=part)
    assert {int(label) for label in labels(root) if label.isdigit()} == rows
    states = {text.text for text in root.iter(f"{SVG}text") if text.get("class").startswith("state")}
    assert states == {part, *(GRAPH[number - 1].target for number in rows)}
    assert terminal(GRAPH, part=part).count("\n  on ") >= 1
    assert dot(GRAPH, part=part).count("label=") < dot(GRAPH).count("label=")
    assert len(legend(GRAPH, part=part).splitlines()) <= 2 + len(rows)


def test_a_state_that_no_row_leads_out_of_is_no_part():
    with pytest.raises(ConfigError, match="no row of the table leads out of succeeded"):
        svg(GRAPH, part=State.SUCCEEDED)


def numbered_gate(number):
    """One more gate, with every objection."""
    names = {
        "name": f"condition_{number}_of_many_holds",
        "may": (Retry, Fail, Suspend),
        "judge": lambda self, _: Pass(),
    }
    return type("Numbered", (Gate,), names)()


def test_with_twenty_more_gates_every_number_has_a_place_of_its_own():
    graph = table(at_verify=tuple(numbered_gate(number) for number in range(20)))
    root = drawn(graph)

    boxes = []
    for text in root.iter(f"{SVG}text"):
        if text.get("class").startswith(("number", "gate")):
            wide = 7 * len(text.text)
            x = int(text.get("x")) - (wide if text.get("text-anchor") == "end" else 0)
            boxes.append((x, x + wide, int(text.get("y"))))
    assert len(boxes) > 100
    for place, (left, right, y) in enumerate(boxes):
        assert not any(abs(y - other) < 10 and left < end and start < right for start, end, other in boxes[place + 1 :])


def test_a_piece_of_markdown_has_the_picture_and_its_legend_and_no_heading():
    text = markdown(GRAPH)

    assert text.startswith("```mermaid\nflowchart TB\n")
    assert legend(GRAPH) in text
    assert not re.search("^#", text, re.MULTILINE)


def test_lines_of_text_name_every_row_once():
    told = re.sub(r"\d+ to \d+|numbers are.*", "", terminal(GRAPH))
    noted = {row.number for note in picture(GRAPH).anywhere for row in note.rows}

    numbers = [int(number) for number in re.findall(r" (\d+)(?=,|$)", told, re.MULTILINE)]
    assert sorted(numbers) == sorted(set(range(1, len(GRAPH) + 1)) - noted)


# --- two tables -----------------------------------------------------------------------------------------------------


def test_a_difference_names_added_rows_by_the_new_table_and_removed_ones_by_the_old():
    without = tuple(row for row in GRAPH if row.guards != (checks_passed.fails,))
    number = next(n for n, row in enumerate(GRAPH, 1) if row not in without)

    merged, marks = difference(without, GRAPH)
    assert merged == GRAPH
    assert [marks.name(row) for row in marks.added] == [f"+{number}"]
    assert not marks.removed
    merged, marks = difference(GRAPH, without)
    assert merged == GRAPH
    assert [marks.name(row) for row in marks.removed] == [f"−{number}"]
    assert marks.name(number + 1) == str(number)
    assert f"✗ failed −{number}" in terminal(merged, marks)
    assert "number removed" in svg(merged, marks)
    assert f"| **−{number}** |" in legend(merged, marks)
    assert f"−{number}" in mermaid(merged, marks)


def test_a_table_does_not_differ_from_itself():
    merged, marks = difference(GRAPH, GRAPH)

    assert merged == GRAPH
    assert not marks.striking


def test_a_row_that_changed_its_place_is_removed_and_added():
    swapped = (GRAPH[1], GRAPH[0], *GRAPH[2:])
    _, marks = difference(GRAPH, swapped)

    assert len(marks.added) == len(marks.removed) == 1
