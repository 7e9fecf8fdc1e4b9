"""What `interlock check` says."""

import subprocess
import sys

import attrs

from fsm.checks import cli_check
from fsm.graph import GRAPH, Row
from states.names import Event, State


def test_a_sound_table_is_told_with_what_was_looked_at():
    status, text = cli_check(GRAPH, "the built-in table")

    assert status == 0
    assert text.startswith(f"the built-in table: {len(GRAPH)} rows, nothing to object to; ")
    assert "product states" in text


def test_what_can_be_read_off_the_table_comes_first():
    rogue = Row(State.PROVIDER_TURN, Event.REPLIED, (), State.FINALIZE)

    status, text = cli_check((rogue, *GRAPH), "mine")

    assert status == 1
    assert "no gate has to pass for it" in text


def test_what_only_the_search_finds_is_told_as_a_story():
    row = next(row for row in GRAPH if row.event is Event.RESUMED and row.target is State.PROVIDER_TURN)
    astray = tuple(attrs.evolve(r, target=State.DISPATCH_TOOLS) if r is row else r for r in GRAPH)

    status, text = cli_check(astray, "mine")

    assert status == 1
    assert text.startswith("moves_are_justified: suspended is left for dispatch_tools on resumed, for no reason")
    assert "\n  1. a run starts\n" in text


def test_only_the_walk_needs_hypothesis():
    code = "import sys; from fsm.checks import crash, explore, paths, shape; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
