"""A real process is killed while its agent works; another one goes on."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "support" / "crew_at_work.py"


def start(home, *more):
    return subprocess.Popen([sys.executable, SCRIPT, home, *more], stdout=subprocess.PIPE, text=True)


def test_a_killed_process_leaves_an_agent_that_another_one_takes_up(tmp_path):
    with start(tmp_path) as first:
        assert first.stdout.readline() == "waiting\n"
        first.kill()
    (tmp_path / "go").touch()
    with start(tmp_path, "resume") as second:
        said = second.stdout.read().split()

    assert (tmp_path / "effects").read_text() == "once\n"
    assert said[:3] == ["succeeded", str(5 * 15), "found"]
    assert [name.count(".") for name in said[3:]] == [0, 1]
