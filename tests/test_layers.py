"""Imports point one way, destinations stand in one file, and `import fsm` stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BELOW = {"states": set(), "gates": {"states"}, "fsm": {"states", "gates"}}


def modules(package):
    return sorted((ROOT / package).rglob("*.py"))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


@pytest.mark.parametrize("package", BELOW)
def test_a_package_imports_only_the_ones_below_it(package):
    found = {name.partition(".")[0] for path in modules(package) for name in imported(path)}

    assert found & (BELOW.keys() - {package}) <= BELOW[package]


def test_only_the_machine_imports_transitions():
    users = [path.name for path in modules("fsm") if any(n.partition(".")[0] == "transitions" for n in imported(path))]

    assert users == ["machine.py"]


def test_only_the_graph_makes_rows():
    """The checks aside: they plant rogue rows on purpose."""
    makers = {
        path.relative_to(ROOT).as_posix()
        for package in BELOW
        for path in modules(package)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Row"
    }

    assert {maker for maker in makers if not maker.startswith("fsm/checks/")} == {"fsm/graph.py"}


def test_states_name_no_destination():
    """An activity reports an event; where that leads is the table's business."""
    for path in modules("states"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Outcome":
                assert "State." not in ast.unparse(node), path


def test_checks_and_extras_are_not_imported_with_fsm():
    code = "import fsm, sys; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )

    assert not loaded & {"hypothesis", "click", "rich", "apsw", "httpx", "jsonschema", "fsm.checks", "fsm.cli"}


def test_a_shadowing_module_is_named_in_plain_words(tmp_path):
    (tmp_path / "states.py").write_text("")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import fsm"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    last = done.stderr.strip().splitlines()[-1]
    assert "interlock needs its own package 'states'" in last
    assert str(tmp_path / "states.py") in last
