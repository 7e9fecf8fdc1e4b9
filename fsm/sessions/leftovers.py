"""What a session leaves beside the journal: copies and receipts of writes, long outputs, scratch files, worktrees."""

import shutil
from pathlib import Path
from typing import Final

from fsm.tools.state_dir import file_name
from fsm.workspace.worktrees import Worktrees

FOLDERS: Final = ("effects", "backups", "scratch")
"""Below the state directory, a folder for each session."""


def remove(state_dir: Path, session: str) -> None:
    """Remove them; what is not there is no fault. Raises OSError, GitFailed."""
    Worktrees(state_dir).forget(session)
    for folder in FOLDERS:
        home = state_dir / folder / file_name(session)
        if home.is_dir():
            shutil.rmtree(home)
    ours = file_name(f"{session}:")
    for kept in (state_dir / "output").glob("*.txt"):
        if kept.name.startswith(ours) and kept.stem.removeprefix(ours).isdigit():
            kept.unlink(missing_ok=True)
