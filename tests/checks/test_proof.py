"""What `interlock check` says."""

import re
import subprocess
import sys

import attrs
import pytest

import fsm.checks
from fsm.checks import Broken, cli_check, proof, prove, walk
from fsm.cli import call
from fsm.graph import GRAPH, Row
from fsm.loop import Loop
from states.errors import ConfigError
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
    layers = "crash, explore, paths, powerloss, proof, shape, simulate"
    code = f"import sys; from fsm.checks import {layers}; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


# --- all layers -----------------------------------------------------------------------------------------------------


def make_loop(**parts):
    return Loop(**parts)


def no_turn(before, move, now):
    return "a turn" if now.turns else None


def test_a_loop_is_proved_by_the_layers_of_its_profile(monkeypatch, tmp_path):
    monkeypatch.setitem(proof.PROFILES, "quick", attrs.evolve(proof.PROFILES["quick"], histories=5))

    said = str(prove(make_loop, cases=None))

    assert said.startswith(f"profile quick\nshape: {len(GRAPH)} rows, nothing to object to\nsimulate: 5 histories, ")
    with pytest.raises(Broken, match="no_turn: a turn"):
        prove(make_loop, claims=(no_turn,), cases=tmp_path)
    assert list(tmp_path.glob("no_turn-*.json"))


def test_walks_are_a_layer_too(monkeypatch):
    monkeypatch.setitem(proof.PROFILES, "quick", attrs.evolve(proof.PROFILES["quick"], histories=1, walks=10))
    monkeypatch.setattr(walk, "starts", lambda graph: ())  # the pasts that a search finds have their own tests

    said = str(prove(make_loop, exempt=GRAPH, cases=None))

    found = re.search(r"\nwalk: 10 walks, (\d+) rows taken", said)
    assert found
    assert int(found[1]) > 5
    with pytest.raises(Broken, match="every_row_is_taken"):
        prove(make_loop, cases=None)


def test_a_claim_is_held_against_the_walks(monkeypatch):
    monkeypatch.setattr(walk, "starts", lambda graph: ())

    with pytest.raises(Broken, match="no_turn: a turn"):
        walk.check(make_loop, walks=10, claims=(no_turn,))


def test_without_hypothesis_the_walks_are_said_to_be_missing(monkeypatch):
    monkeypatch.setitem(proof.PROFILES, "quick", attrs.evolve(proof.PROFILES["quick"], histories=1, walks=20))
    monkeypatch.setitem(sys.modules, "fsm.checks.walk", None)
    monkeypatch.delattr(fsm.checks, "walk", raising=False)

    said = str(prove(make_loop, cases=None))

    assert "\nnot run: walk: " in said
    assert "20 walks" not in said


def test_a_table_that_is_no_sound_one_is_not_driven():
    rogue = (Row(State.PROVIDER_TURN, Event.REPLIED, (), State.FINALIZE), *GRAPH)

    with pytest.raises(Broken, match="no gate has to pass for it"):
        prove(lambda **parts: Loop(**parts, graph=rogue), cases=None)


def test_a_profile_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="there is no profile 'deep'; there are: quick, ci, nightly"):
        prove(make_loop, profile="deep")


def test_the_command_proves_a_function_that_makes_loops(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(proof.PROFILES, "quick", attrs.evolve(proof.PROFILES["quick"], histories=5))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "agent_of_mine.py").write_text(
        "from fsm import Loop\nLESS = 3\ndef make_loop(**parts):\n    return Loop(**parts)\n"
        "def bad(**parts):\n    return Loop(**parts, graph=Loop(**parts).graph[1:])\n"
    )

    assert call(["check", "agent_of_mine:make_loop"]) == 0
    assert "agent_of_mine:make_loop: profile quick" in capsys.readouterr().out
    assert call(["check", "agent_of_mine:bad"]) == 1
    assert "no row takes replied" in capsys.readouterr().out
    assert call(["check", "agent_of_mine:LESS"]) == 2
    assert "neither a table, nor a Loop, nor a function" in capsys.readouterr().err
    assert call(["check", "--profile", "ci"]) == 2
