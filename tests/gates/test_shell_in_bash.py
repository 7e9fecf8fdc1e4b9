"""What the reading says of a text, bash confirms: if it is said to prove a check and ends with 0, the check passed.

Stubs stand in for the tools and write down how they ended; bash runs whatever the grammar's pieces make together.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gates.commands import kinds_of

STUBS = {"test": "pytest", "type-check": "mypy", "lint": "flake8"}
STUB = '#!/bin/sh\n[ "$FAIL" = "{name}" ] && code=1 || code=0\necho {name} $code >> "$LOG"\necho out\nexit $code\n'


@pytest.fixture(scope="module")
def place():
    with tempfile.TemporaryDirectory() as home:
        root = Path(home)
        (root / "bin").mkdir()
        (root / "work" / "sub").mkdir(parents=True)
        for name in (*STUBS.values(), "ruff"):
            path = root / "bin" / name
            path.write_text(STUB.format(name=name))
            path.chmod(0o755)
        yield root


def in_bash(place, text, failing):
    """The exit status of the text, and what each stub ended with, in order."""
    log = place / "log"
    log.write_text("")
    environment = {"PATH": f"{place / 'bin'}:/usr/bin:/bin", "FAIL": failing, "LOG": str(log), "HOME": str(place)}
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=place / "work",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=10,
        check=False,
    )
    return done.returncode, [line.split() for line in log.read_text().splitlines()]


COMMANDS = st.sampled_from(
    [
        "pytest",
        "pytest -q",
        "mypy .",
        "flake8",
        "echo x",
        "true",
        "cd sub",
        "set -e",
        "set -o pipefail",
        "set -eo pipefail",
        "CI=1 pytest",
        "timeout 5 pytest",
        "bash -c 'pytest'",
        "bash -ec 'pytest; mypy .'",
        "bash -c 'pytest | cat'",
        "bash -c 'set -o pipefail; pytest | cat'",
        "pytest 2>&1",
        "pytest > /dev/null",
        "pytest &> /dev/null",
        "exit 1",
        "false",
        "exit 0",
        "set +e",
        "tail -1",
        "cat",
        "tee /dev/null",
        "time pytest",
        "CI=1",
        "export CI=1",
        "! pytest",
        ":",
        "pytest # done",
        "env CI=1 mypy",
        "(exit 1)",
        "trap 'exit 0' EXIT",
        "trap true ERR",
        "return",
    ]
)
JOINS = st.sampled_from(
    [" && ", " || ", "; ", "\n", " | ", " |& ", " & ", " &&\n", " 2>&1 | ", " 2>&1 && ", " > /dev/null; ", " \\\n&& "]
)
WRAPS = st.sampled_from(["{}", "{}", "{}", "({})", "{{ {}; }}", "({}) 2>&1", "! {}", "if {}; then true; fi", "time {}"])


@st.composite
def texts(draw, depth=2):
    parts = draw(st.integers(1, 4))
    text = ""
    for number in range(parts):
        inner = draw(texts(depth=depth - 1)) if depth and draw(st.integers(0, 5)) == 0 else draw(COMMANDS)
        text += (draw(JOINS) if number else "") + draw(WRAPS).format(inner)
    return text


@settings(max_examples=350, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(texts(), st.sampled_from([*STUBS, ""]))
@example("set -o pipefail && pytest 2>&1 | tail -1", "test")
@example("cd sub && pytest 2>&1 | tail -1", "test")
@example("true || pytest && mypy .", "test")
@example("pytest || true && mypy .", "test")
@example("set -e; pytest && true; true", "test")
@example("(set -e; pytest; true) && true", "test")
@example("pytest || exit 1 2>&1 | cat", "test")
@example("set -o pipefail; pytest || exit 1 2>&1 | cat", "test")
@example("set -e\n(pytest; true)\ntrue", "test")
@example("set -e\n{ pytest && true; } > /dev/null\ntrue", "test")
@example("CI=1 set -o pipefail; pytest | cat", "test")
def test_what_is_said_to_prove_a_check_does(place, text, failing):
    claimed = kinds_of(text)

    status, log = in_bash(place, text, STUBS.get(failing, ""))

    if status == 0:
        for kind in claimed:
            ended = [code for name, code in log if name == STUBS[kind]]
            assert ended, f"{text!r} is said to prove {kind}, and {STUBS[kind]} never ran"
            assert "0" in ended, f"{text!r} is said to prove {kind}, and ended with 0 though it failed"
            assert failing != kind


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.text(alphabet=list("pytest &|;()<>{}'\"\\$`!#\n-\t=*~"), max_size=40))
def test_any_text_is_read_without_an_accident(text):
    assert set(kinds_of(text)) <= {"test"}


def test_the_stubs_tell_passing_from_failing(place):
    assert in_bash(place, "pytest && mypy .", "") == (0, [["pytest", "0"], ["mypy", "0"]])
    assert in_bash(place, "pytest && mypy .", "pytest") == (1, [["pytest", "1"]])
    assert os.access(place / "bin" / "pytest", os.X_OK)
