"""Agents that work apart: each in a worktree of its own, whose changes come back as a result."""

import asyncio
from pathlib import Path
from typing import Final

import attrs

from fsm.tools import ToolError
from fsm.workspace.repository import GitFailed, repository
from fsm.workspace.worktrees import Worktree, WorktreeError, Worktrees
from states.errors import ConfigError
from states.ports import ToolOutput
from states.records import JSON

SHOWN: Final = 20_000
"""Characters of a diff that the caller is shown (our choice: of the order of one long tool output)."""


@attrs.frozen
class Apart:
    """folder: the workspace of the loop whose agents these are (empty: none)."""

    folder: str
    state_dir: Path

    @property
    def trees(self) -> Worktrees:
        return Worktrees(self.state_dir)

    def check(self, agent: str) -> None:
        """Raises ConfigError where no worktree can be made."""
        if not self.folder:
            raise ConfigError(f"agent {agent!r} works in a git worktree, which needs workspace=... to be a folder")
        try:
            repository(Path(self.folder))
        except GitFailed as error:
            raise ConfigError(
                f"agent {agent!r} works in a git worktree, but {error}. Make it one (git init), or leave isolation out"
            ) from error

    async def workspace(self, session: str, parent: str, journal: str, *, begun: bool) -> Path:
        """The folder that the agent of a session works on; made, if it has not begun. Raises ToolError."""
        worktree = self.trees.of(session)
        found = await asyncio.to_thread(lambda: worktree.workspace)
        if found is not None:
            return found
        if begun:
            raise ToolError(f"the agent's worktree {worktree.tree} is not there any more; what it did there is lost.")
        try:
            return await asyncio.to_thread(worktree.make, Path(self.folder), session, parent, journal)
        except (GitFailed, OSError) as error:
            raise ToolError(f"no worktree could be made for the agent, which did not begin: {error}") from error

    async def handed_over(self, output: ToolOutput, session: str) -> ToolOutput:
        """The output with what the agent changed."""
        worktree = self.trees.of(session)
        try:
            names = await asyncio.to_thread(worktree.hand_over)
        except (WorktreeError, GitFailed, OSError) as error:
            return attrs.evolve(output, text=f"{output.text}\n\nWhat it changed could not be had: {error}")
        words, shown = await asyncio.to_thread(_told, worktree, names, session)
        about: dict[str, JSON] = {"files": [*names], "diff": str(worktree.patch) if names else ""}
        return attrs.evolve(output, text=f"{output.text}\n\n{words}{shown}", metadata={**output.metadata, **about})


def _told(worktree: Worktree, names: list[str], session: str) -> tuple[str, str]:
    if not names:
        return "It changed no files.", ""
    diff = worktree.patch.read_text(errors="replace")
    cut = (
        "" if len(diff) <= SHOWN else f"\n[{len(diff) - SHOWN:,} characters left out; the whole is in {worktree.patch}]"
    )
    words = (
        f"It worked apart: its changes ({', '.join(names[:50])}{' and others' if len(names) > 50 else ''}) are not in "
        f"your workspace yet. task_apply with the handle {session!r} makes them there, task_discard drops them.\n"
    )
    return words, f"{diff[:SHOWN]}{cut}"
