"""The command as its users have it: a process of its own, in a small repository with a failing test."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.chat_server import ChatServer, calls_turn, text_turn

ROOT = Path(__file__).parent.parent.parent
ENTRY = [sys.executable, "-m", "fsm.cli"]


class Command:
    """Runs `interlock` in a workspace, without the tester's own settings."""

    def __init__(self, workspace):
        self.workspace = workspace
        self.started = []
        python = Path(sys.executable).parent
        self.env = {
            "PATH": f"{python}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(workspace),
            "PYTHONPATH": str(ROOT),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def __call__(self, *words, env=None, cwd=None, **more):
        return subprocess.run(
            [*ENTRY, *words],
            cwd=cwd or self.workspace,
            env=self.env | (env or {}),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
            **more,
        )

    def start(self, *words, **more):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        process = subprocess.Popen([*ENTRY, *words], cwd=self.workspace, env=self.env, text=True, **pipes)
        self.started.append(process)
        return process

    def clean(self):
        for process in self.started:
            process.kill()
            process.wait(30)
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    def run(self, server, *words, task="Repair what is broken.", **more):
        return self(*self.line(server, task, *words), **more)

    @staticmethod
    def line(server, task, *words):
        return ("run", task, "--model", "m", "--base-url", server.url, "--session", "s", *words)


def repository(root):
    root.mkdir()
    (root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (root / "test_calc.py").write_text(
        "import unittest\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(add(2, 2), 4)\n"
    )
    return root


@pytest.fixture
def workspace(tmp_path):
    return repository(tmp_path / "work")


@pytest.fixture
def interlock(workspace):
    command = Command(workspace)
    yield command
    command.clean()


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A workspace in which session "s" has read a file and answered."""
    root = repository(tmp_path_factory.mktemp("finished") / "work")
    turns = [calls_turn([("read_file", {"path": "calc.py"})], "I look."), text_turn("It subtracts.")]
    with ChatServer(turns) as server:
        assert Command(root).run(server, task="What does \x1b[2J it do?").returncode == 0
    return root


@pytest.fixture
def session(finished, interlock):
    """The command, where that session is."""
    shutil.copytree(finished, interlock.workspace, dirs_exist_ok=True)
    return interlock


@pytest.fixture
def no_escapes():
    """Text as a terminal shows it, without colours."""
    return lambda text: re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


@pytest.fixture
def everything(workspace):
    """All bytes that a run left in the workspace."""
    return lambda: b"".join(
        path.read_bytes() for path in sorted(workspace.rglob("*")) if path.is_file() and os.access(path, os.R_OK)
    )
