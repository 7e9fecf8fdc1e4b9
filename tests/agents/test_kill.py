"""A real process is killed while its agent works; another one goes on."""

import subprocess
import sys
from pathlib import Path

from support.repositories import git, repository

SCRIPT = Path(__file__).parent.parent / "support" / "crew_at_work.py"
APART = SCRIPT.with_name("apart_at_work.py")


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


def test_a_killed_process_leaves_a_worktree_in_which_the_agent_goes_on(tmp_path):
    root = repository(tmp_path / "r", a="one\n")
    with subprocess.Popen([sys.executable, APART, root], stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "waiting\n"
        first.kill()
    listed = git(root, "worktree", "list").splitlines()
    (tree,) = [Path(line.split()[0]) for line in listed if ".interlock" in line]
    assert ((tree / "a.txt").read_text(), (root / "a.txt").read_text()) == ("two\n", "one\n")
    (tree / "left.txt").write_text("by the agent before it was killed\n")
    (root / ".git" / "go").touch()
    with subprocess.Popen([sys.executable, APART, root, "resume"], stdout=subprocess.PIPE, text=True) as second:
        assert second.stdout.read() == "succeeded 2"

    assert (root / "a.txt").read_text() == "two\n"
    assert (root / "left.txt").exists()
    assert git(root, "worktree", "list").count("\n") == 1
