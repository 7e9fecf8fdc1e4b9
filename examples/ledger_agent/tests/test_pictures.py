"""The diagrams and the report of this agent, by the command that its users have."""

import subprocess
import sys

from ledger_agent.agent import loop_for

from fsm.providers import Scripted
from fsm.providers.scripted import asks_for, says


def interlock(*words, cwd):
    return subprocess.run(
        [sys.executable, "-m", "fsm.cli", *words], cwd=cwd, capture_output=True, text=True, check=True
    )


def test_the_diagrams_show_what_this_agent_adds(tmp_path):
    interlock("diagram", "--graph", "ledger_agent:GRAPH", "--format", "svg", "-o", "loop.svg", cwd=tmp_path)
    interlock(
        "diagram",
        "--graph",
        "ledger_agent:GRAPH",
        "--diff",
        "fsm:GRAPH",
        "--format",
        "svg",
        "-o",
        "d.svg",
        cwd=tmp_path,
    )

    assert "books_balance" in (tmp_path / "loop.svg").read_text()
    assert "number added" in (tmp_path / "d.svg").read_text()


def test_a_run_has_a_report(tmp_path):
    script = [asks_for(("post", {"account": "a", "cents": 1}), ("post", {"account": "b", "cents": -1})), says("Done.")]
    loop_for(tmp_path, Scripted(script), str(tmp_path / "runs.db")).run_sync("Book it.", session="s")
    interlock("report", "s", "--journal", "runs.db", "--graph", "ledger_agent:GRAPH", "-o", "run.html", cwd=tmp_path)

    page = (tmp_path / "run.html").read_text()
    assert "books_balance" in page
    assert "The audit has nothing to object to." in page
