"""A run that is killed before and after each of its commits, in real processes, over HTTP, on a real store."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fsm.checks import crash
from states.errors import ConfigError
from tests.support.chat_server import ChatServer, calls_turn, text_turn

SUBJECT = Path(__file__).parent / "crash_subject.py"
ROOT = Path(__file__).parents[2]
TURNS = [*(calls_turn([(crash.ORDER[turn % 4], {"turn": turn})]) for turn in range(crash.TURNS)), text_turn("all done")]


def swept(folder, *faults):
    with ChatServer(TURNS) as server:
        done = subprocess.run(
            [sys.executable, SUBJECT, folder, server.url, *faults],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT), "PATH": ""},
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_run_survives_being_killed_at_every_commit(tmp_path):
    found = swept(tmp_path)

    assert found["points"] == 2 * found["commits"] > 40
    assert 0 < found["unknown"] < found["points"] / 2, "only calls of the tool that nobody can ask about are unknown"


def test_a_lost_call_that_is_run_again_unasked_is_found(tmp_path):
    assert "happened 2 times under swept:" in swept(tmp_path, "again")["broken"]


def test_an_effect_before_its_intent_is_found(tmp_path):
    """The resumed run starts it under a later intent, or for the second time: both are seen outside."""
    broken = swept(tmp_path, "early")["broken"]

    assert "which no durable intent names" in broken or "unasked" in broken


def test_a_sweep_does_not_fork_beside_threads(tmp_path):
    done = threading.Event()
    threading.Thread(target=done.wait, name="busy").start()
    try:
        with pytest.raises(ConfigError, match=r"threads are running \(.*busy"):
            crash.sweep(None, tmp_path)
    finally:
        done.set()
