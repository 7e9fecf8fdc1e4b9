"""Holds docs/coverage.md against the tests: `python docs/check_coverage.py [JUNIT.xml]`.

Every row has to name tests that exist, or say `not done: why`. With the report of a test run (`pytest --junitxml=FILE`)
each named test also has to have run and passed. What is wrong is printed, one line each; the exit status is then 1.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coverage.md"

_ROW = re.compile(r"^\| ([A-Z]+\d+) \|(.*)\|$")
_TEST = re.compile(r"`(tests/[\w/]+\.py::[\w:]+)`")
_NOT_DONE = re.compile(r"\bnot done: \w")


class Fact(NamedTuple):
    """One row: its name, its cells (what the fact is, how it is met, what shows it), and the tests among the last."""

    name: str
    cells: tuple[str, ...]

    @property
    def tests(self) -> list[str]:
        return _TEST.findall(self.cells[-1])

    @property
    def not_done(self) -> bool:
        return bool(_NOT_DONE.search(self.cells[-1]))


def facts(page: str) -> list[Fact]:
    """The rows of all tables of the page, in its order."""
    found = (_ROW.match(line) for line in page.splitlines())
    return [Fact(row[1], tuple(cell.strip() for cell in row[2].split(" | "))) for row in found if row]


def known(root: Path = ROOT) -> set[str]:
    """The tests under `root`/tests, as `path::name`, read off the syntax trees."""
    return {
        f"{path.relative_to(root).as_posix()}::{name}"
        for path in (root / "tests").rglob("test_*.py")
        for name in _names(ast.parse(path.read_text()).body)
    }


def _names(body: Iterable[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node.name
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from (f"{node.name}::{name}" for name in _names(node.body))
        elif isinstance(node, ast.Assign):  # a walk is a class that something else has made
            names = (target.id for target in node.targets if isinstance(target, ast.Name))
            yield from (f"{name}::runTest" for name in names if name.startswith("Test"))


def passed(report: Path) -> set[str]:
    """The tests of which a JUnit report says that some case passed and none failed."""
    good, bad = set[str](), set[str]()
    for case in ET.parse(report).iter("testcase"):  # noqa: S314  our own run wrote it
        name = _node(case.get("classname", ""), case.get("name", ""))
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            bad.add(name)
        elif "skipped" not in outcomes:
            good.add(name)
    return good - bad


def _node(place: str, name: str) -> str:
    """The test of a case: `tests.a.test_b.TestC` and `test_d[x]` are `tests/a/test_b.py::TestC::test_d`."""
    parts = place.split(".")
    module = next((number for number, part in enumerate(parts) if part.startswith("test_")), len(parts) - 1)
    return "::".join(["/".join(parts[: module + 1]) + ".py", *parts[module + 1 :], name.partition("[")[0]])


def objections(page: str, tests: set[str], ran: set[str] | None = None) -> list[str]:
    """What is wrong with the page, one sentence each."""
    rows = facts(page)
    names = [row.name for row in rows]
    wrong = [] if rows else ["the page has no row"]
    wrong += [f"{name}: the name is taken twice" for name in sorted({name for name in names if names.count(name) > 1})]
    for row in rows:
        if len(row.cells) != 3 or not all(row.cells):
            wrong.append(f"{row.name}: a row has a fact, how it is met, and what shows it")
        elif not row.tests and not row.not_done:
            wrong.append(f"{row.name}: neither a test nor `not done: why`")
        wrong += [f"{row.name}: there is no {test}" for test in row.tests if test not in tests]
        if ran is not None:
            wrong += [f"{row.name}: {test} did not run and pass" for test in row.tests if test in tests - ran]
    return wrong


def main(arguments: list[str]) -> int:
    page = PAGE.read_text()
    wrong = objections(page, known(), passed(Path(arguments[0])) if arguments else None)
    rows = facts(page)
    tests = {test for row in rows for test in row.tests}
    print(
        *wrong,
        f"{len(rows)} facts, {sum(row.not_done for row in rows)} not or not wholly done, {len(tests)} tests",
        sep="\n",
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
