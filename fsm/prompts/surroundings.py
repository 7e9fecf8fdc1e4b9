"""Where the work happens: what stays so is a layer of the system prompt, what changes is told with each input."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fsm.visible import one_line
from fsm.workspace.git import git
from fsm.workspace.programs import names_programs

PATIENCE: Final = 2.0
"""Seconds for git's answer; without one nothing is said about it (our choice)."""
OPEN: Final = "<runtime-context>"
CLOSE: Final = "</runtime-context>"


def environment(folder: str) -> str:
    """Free of clocks, git state and listings: two sessions in one folder read the same."""
    shell = os.environ.get("SHELL") or "/bin/sh"
    lines = [f"Working directory: {_plain(folder)}", f"Platform: {sys.platform}", f"Shell of the user: {_plain(shell)}"]
    return "\n".join(["# Environment", "", *lines])


def runtime_context(folder: str, now: float) -> str:
    """The block that stands before the user's words. now: seconds since the epoch, shown as the local day."""
    day = datetime.fromtimestamp(now, UTC).astimezone()
    lines = ["The program says this, not the user.", f"Date: {day:%A}, {day:%Y-%m-%d} (UTC{day:%z})"]
    if folder:
        lines += [f"Directory: {_plain(folder)}", f"Git: {_git_state(folder)}"]
    return "\n".join([OPEN, *lines, CLOSE])


def _git_state(folder: str) -> str:
    if names_programs(Path(folder)):
        return "not looked at: the repository's own configuration names programs that git would run"
    status = git(
        folder, "status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty", seconds=PATIENCE
    )  # a submodule has a configuration of its own
    if status is None:
        inside = any((above / ".git").exists() for above in (Path(folder), *Path(folder).parents))
        return "no answer" if inside else "no repository"
    branch, commit, changed, untracked = "", "", 0, 0
    fields = iter(status.decode("utf-8", "backslashreplace").split("\0"))
    for field in fields:
        match field.partition(" "):
            case ("#", _, said) if said.startswith("branch.head "):
                branch = said.removeprefix("branch.head ")
            case ("#", _, said) if said.startswith("branch.oid "):
                commit = said.removeprefix("branch.oid ")[:12]
            case ("1" | "2" | "u" as kind, _, _):
                changed += 1
                if kind == "2":
                    next(fields, None)  # of a renamed file both names are told
            case ("?", _, _):
                untracked += 1
    return f"branch {_plain(branch)}, commit {commit}, {changed} files changed, {untracked} untracked"


def _plain(text: str) -> str:
    """One line that cannot end the block."""
    return one_line(text, 400).replace("<", "‹").replace(">", "›")
