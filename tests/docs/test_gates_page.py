"""What docs/gates.md says is so: its gates and constants are those of the table, and its code runs."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from fsm import Contract, Loop
from fsm.audit import audit
from fsm.graph import GRAPH, JUDGED
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import Scripted, says
from gates import ready
from gates.gate import Asked

PAGE = Path(__file__).parents[2] / "docs" / "gates.md"
GATES = {guard.gate.name: guard.gate for row in GRAPH for guard in row.guards if isinstance(guard, Asked)}
ROWS = [
    [cell.strip() for cell in line.removeprefix("| ").removesuffix("|").split(" | ")]
    for line in PAGE.read_text().splitlines()
    if line.startswith("| `")
]
OF_GATES = [row for row in ROWS if row[0].strip("`") in GATES]


@pytest.fixture(scope="module")
def page():
    names = {"__name__": "page"}
    for code in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(code, PAGE.name, "exec"), names)  # our own page
    return names


def run(graph, *turns, **options):
    async def play():
        journal = MemoryJournal()
        loop = Loop(provider=Scripted(turns), journal=journal, graph=graph, **options)
        result = await loop.run("go", session="s")
        return result, audit(graph, await journal.read("s"), "s")

    return asyncio.run(play())


def test_every_gate_of_the_table_is_on_the_page_and_no_other():
    named = {row[0].strip("`") for row in ROWS}

    assert GATES.keys() <= named
    assert {name for name in named - GATES.keys() if "(" not in name} == {"Pass", "Retry", "Fail", "Suspend"}


def test_the_constants_are_those_of_the_code():
    said = [(row[0].strip("`"), *found) for row in OF_GATES for found in re.findall(r"`([A-Z_]+) = (\d+)`", row[-1])]

    assert len(said) > 15
    for gate, name, value in said:
        assert getattr(sys.modules[GATES[gate].__module__], name) == int(value), (gate, name)


def test_no_constant_is_left_out():
    shown = {(row[0].strip("`"), name) for row in OF_GATES for name in re.findall(r"`([A-Z_]+) = ", row[-1])}
    known = {
        (gate.name, name)
        for gate in GATES.values()
        for name, value in vars(sys.modules[gate.__module__]).items()
        if name.isupper() and type(value) is int
    }

    assert known == shown


def test_the_order_on_the_page_is_that_of_the_table():
    judged = [gate.name for state in JUDGED for gate in GRAPH.gates_of(state)]
    section = PAGE.read_text().split("## The completion gates")[1].split("## ")[0]

    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [*judged, "receipt_holds"]


def test_the_objections_on_the_page_are_those_of_the_gates():
    with_objections = [row for row in OF_GATES if len(row) == 5]

    assert len(with_objections) == len(GATES.keys() - {"tools_work", "on_course", "window_left", "actions_progress"})
    for row in with_objections:
        assert {kind.__name__.lower() for kind in GATES[row[0].strip("`")].may} == set(row[3].split(", "))


def test_a_gate_of_ones_own_sends_the_run_back_until_it_is_content(page):
    result, complaints = run(page["graph"], says("done"), says("done, TICKET-7"))

    assert (result.succeeded, result.text, complaints) == (True, "done, TICKET-7", [])
    order = [gate.name for gate in page["graph"].gates_of("verify")]
    assert order == ["independently_verified", "ticket_named", "checks_passed"]


def test_its_patience_has_an_end(page):
    result, complaints = run(page["graph"], says("one"), says("two"), says("three"))

    assert (result.text, complaints) == ("three", [])


def test_a_gate_of_ones_own_looks_at_the_workspace(page, tmp_path):
    graph = GRAPH.with_gate(page["HasLicense"](), "verify")
    workspace = page["LocalWorkspace"](tmp_path)
    result, complaints = run(graph, says("done"), says("really"), workspace=workspace)
    assert (result.reason, complaints) == ("has_license_failed", [])

    (tmp_path / "LICENSE").write_text("MIT")
    result, complaints = run(graph, says("done"), workspace=workspace)
    assert (result.succeeded, complaints) == (True, [])


def test_the_ready_made_ones_are_built_as_the_page_says():
    section = PAGE.read_text().split("## Ready-made ones")[1]
    calls = re.findall(r"^\| `(\w+\(.*?\))` \|", section, re.MULTILINE)

    built = {type(eval(call, vars(ready))).__name__ for call in calls}  # our own page
    assert built == set(ready.__all__) - {"Observed", "Sight"}
    assert Contract(commands=["make check"]).owes_evidence
