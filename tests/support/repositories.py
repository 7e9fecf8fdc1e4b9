"""Real git repositories, and agents that work on files in worktrees of them."""

import subprocess

from fsm import Agent, workspace_tools
from fsm.providers.scripted import Scripted, asks_for, says


def git(root, *arguments):
    """What git prints in a folder, whatever the configuration of whoever runs the tests is."""
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def repository(root, **files):
    root.mkdir(exist_ok=True)
    git(root, "init", "-q")
    for name, text in files.items():
        (root / f"{name}.txt").write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def by_place(*turns):
    """A model that goes by how much has been said, and so knows where it stands after a crash."""

    def turn(request):
        said = turns[sum(type(message).__name__ == "AssistantMessage" for message in request.messages)]
        return said(request) if callable(said) else said

    return Scripted([turn] * 20)


def writer(name, *calls, **options):
    """An agent that makes these calls, in one turn each."""
    turns = by_place(*(asks_for(call) for call in calls), says(f"{name} is done"))
    return Agent(name, "Works.", "Work.", provider=turns, isolation="worktree", **options)


def write(path, content):
    return "write_file", {"path": path, "content": content}


def tools(root):
    return workspace_tools(root, root / ".interlock")
