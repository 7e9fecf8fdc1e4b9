"""The coverage table is held against the tests, and what holds it would notice."""

import functools
import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "check_coverage.py"
spec = importlib.util.spec_from_file_location("check_coverage", SCRIPT)
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)
KNOWN = functools.cache(check.known)  # every test file is parsed for it

COUNTS = {"I": 12, "H": 15, "F": 36, "D": 16, "P": 18, "R": 53, "B": 78, "S": 1}
"""Invariants; hazards, features, defects of other loops; open points; features of their runtimes; bugs; all at once."""
HERE = "tests/docs/test_coverage.py::test_every_fact_has_a_test_or_a_reason"
ROW = f"| B01 | a fact | how | `{HERE}` |"


def test_every_fact_has_a_test_or_a_reason():
    assert check.objections(check.PAGE.read_text(), KNOWN()) == []


def test_no_fact_was_left_out():
    """How many there are of each theme: dropping a row takes a change here."""
    names = [row.name for row in check.facts(check.PAGE.read_text())]
    count = {theme: sum(name.rstrip("0123456789") == theme for name in names) for theme in COUNTS}

    assert count == COUNTS


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("no table", "the page has no row"),
        (f"{ROW}\n{ROW}", "B01: the name is taken twice"),
        ("| B01 | a fact | `tests/docs/test_coverage.py` |", "B01: a row has a fact, how it is met, and what shows it"),
        ("| B01 | a fact | how | surely |", "B01: neither a test nor `not done: why`"),
        ("| B01 | a fact | how | not done: |", "B01: neither a test nor `not done: why`"),
        ("| B01 | a fact | how | `tests/a.py::test_b` |", "B01: there is no tests/a.py::test_b"),
        (ROW.replace("`", "`tests/gone.py::test_b`, `", 1), "B01: there is no tests/gone.py::test_b"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(page, said):
    assert said in check.objections(page, KNOWN())


def test_a_row_may_have_a_test_or_a_reason_or_both():
    page = f"{ROW}\n| B02 | a fact | how | not done: no time |\n| B03 | a fact | how | `{HERE}`; not done: the rest |"

    assert check.objections(page, KNOWN()) == []
    assert [row.not_done for row in check.facts(page)] == [False, True, True]


REPORT = """<testsuites><testsuite>
<testcase classname="tests.a.test_b" name="test_all[one-tests.x]"/>
<testcase classname="tests.a.test_b" name="test_all[two]"><skipped/></testcase>
<testcase classname="tests.a.test_b" name="test_half[one]"/>
<testcase classname="tests.a.test_b" name="test_half[two]"><failure/></testcase>
<testcase classname="tests.a.test_b" name="test_none"><skipped/></testcase>
<testcase classname="tests.a.test_b.TestC" name="runTest"/>
<testcase classname="tests.test_d" name="test_e"/>
</testsuite></testsuites>"""


def test_only_what_ran_and_passed_counts(tmp_path):
    report = tmp_path / "junit.xml"
    report.write_text(REPORT)
    ran = check.passed(report)

    assert ran == {"tests/a/test_b.py::test_all", "tests/a/test_b.py::TestC::runTest", "tests/test_d.py::test_e"}
    assert check.objections(ROW, {HERE}, ran) == [f"B01: {HERE} did not run and pass"]
    assert check.objections(ROW, {HERE}, {HERE}) == []
