"""The worktrees of agents: one for each session that works apart, found by its name, and what came of it.

Below the state directory, `worktrees/SESSION/` holds `tree` (the working tree), `about.json` (there once the tree is
whole), `diff` and `names` (there once the agent has ended and its changes were handed over), and `settled`.
"""

import re
import shutil
import threading
from collections.abc import Collection, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Final

import attrs
import orjson

from fsm.tools.state_dir import file_name, make, write_durably
from states.errors import InterlockError

from .repository import GitFailed, Repository, repository

FOLDER: Final = "worktrees"
_SAID_NO: Final = re.compile(
    r"^error: (.+): (?:patch does not apply|already exists in .*|No such file or directory|wrong type|"
    r"does not match index|cannot .*|.*symbolic link.*)$",
    re.MULTILINE,
)
_ADDING: Final = threading.Lock()


class WorktreeError(InterlockError):
    """What cannot be done with a worktree, and why."""


class Settled(StrEnum):
    """What the caller has decided about an agent's changes."""

    APPLIED = "applied"
    DISCARDED = "discarded"


@attrs.frozen
class About:
    """Durable before anybody works in the tree. `journal`: the path of the one that knows the session, if any."""

    session: str
    parent: str
    base: str
    top: str
    git_dir: str
    prefix: str
    journal: str = ""

    @property
    def repository(self) -> Repository:
        return Repository(Path(self.top), Path(self.git_dir), self.prefix)


@attrs.frozen
class Worktree:
    """The one of a session, whether it is there or not."""

    home: Path

    @property
    def tree(self) -> Path:
        return self.home / "tree"

    @property
    def patch(self) -> Path:
        return self.home / "diff"

    @property
    def about(self) -> About | None:
        """None if there is none, or none that is whole."""
        try:
            return About(**orjson.loads((self.home / "about.json").read_bytes()))
        except (FileNotFoundError, TypeError, ValueError):
            return None

    @property
    def workspace(self) -> Path | None:
        """The folder that its agent works on; None if it is not there."""
        about = self.about
        return self.tree / about.prefix if about is not None and self.tree.is_dir() else None

    def make(self, workspace: Path, session: str, parent: str, journal: str) -> Path:
        """A new one that has what `workspace` has. Raises GitFailed. What stands there half made goes first."""
        found = repository(workspace)
        self.remove(found)
        make(self.home.parent)
        self.home.mkdir(exist_ok=True)
        leave_out = (journal,) if journal else ()
        base = found.commit(found.tree(found.top, self.home / "index", leave_out=leave_out))
        with _ADDING:
            found.add_worktree(self.tree, base)
        made = About(session, parent, base, str(found.top), str(found.git_dir), found.prefix, journal)
        (self.tree / made.prefix).mkdir(parents=True, exist_ok=True)
        write_durably(self.home / "about.json", orjson.dumps(attrs.asdict(made)))
        return self.tree / made.prefix

    def hand_over(self) -> list[str]:
        """Keep what was changed as a patch, once; the paths in it. Raises WorktreeError, GitFailed."""
        names = self.home / "names"
        if not names.exists():
            about = self.about
            if about is None or not self.tree.is_dir():
                raise WorktreeError(f"the worktree {self.tree} is not there any more")
            after = about.repository.tree(self.tree, self.home / "index", base=about.base)
            write_durably(self.patch, about.repository.diff(about.base, after))
            write_durably(names, orjson.dumps(about.repository.names(about.base, after)))
        return [str(name) for name in orjson.loads(names.read_bytes())]

    @property
    def handed_over(self) -> bool:
        return (self.home / "names").exists()

    @property
    def settled(self) -> tuple[Settled, str] | None:
        """What was decided, and by the call with which key."""
        try:
            word, _, key = (self.home / "settled").read_text().partition(" ")
            return Settled(word), key
        except FileNotFoundError:
            return None

    def settle(self, word: Settled, key: str) -> None:
        write_durably(self.home / "settled", f"{word} {key}".encode())

    def apply(self) -> None:
        """Change the files of the repository's working tree, all or none. Raises WorktreeError: which do not fit."""
        about = self._known()
        try:
            about.repository.apply(self.patch, "--check")
        except GitFailed as error:
            files = list(dict.fromkeys(_SAID_NO.findall(str(error))))
            raise WorktreeError(
                f"conflict in {', '.join(files)}: changed since the agent began. Nothing was changed."
                if files
                else f"the changes do not fit, nothing was changed: {error}"
            ) from error
        about.repository.apply(self.patch)

    def fits(self, *, reverse: bool) -> bool:
        """Whether the changes can be made (or, reversed, have been made)."""
        try:
            self._known().repository.apply(self.patch, "--check", *(("--reverse",) if reverse else ()))
        except GitFailed:
            return False
        return True

    def clear(self) -> None:
        """Remove the tree; what was handed over stays."""
        about = self.about
        if about is not None and self.tree.exists():
            about.repository.remove_worktree(self.tree)

    def remove(self, found: Repository | None = None) -> None:
        """Remove all of it."""
        about = self.about
        known = about.repository if about is not None else found
        if known is not None and known.git_dir.is_dir():
            known.remove_worktree(self.tree)
        if self.home.exists():
            shutil.rmtree(self.home)

    def _known(self) -> About:
        about = self.about
        if about is None:
            raise WorktreeError(f"the worktree {self.tree} is not there any more")
        return about


@attrs.frozen
class Worktrees:
    """All of a state directory."""

    state_dir: Path

    def of(self, session: str) -> Worktree:
        return Worktree(self.state_dir.absolute() / FOLDER / file_name(session))

    def _all(self) -> Iterable[Worktree]:
        home = self.state_dir.absolute() / FOLDER
        return [Worktree(path) for path in sorted(home.iterdir()) if path.is_dir()] if home.is_dir() else ()

    @property
    def any(self) -> bool:
        return bool(list(self._all()))

    def forget(self, session: str) -> None:
        """Remove the worktree of a session that is deleted, and those of its agents."""
        ours = (file_name(session), file_name(f"{session}."))
        for worktree in self._all():
            about = worktree.about
            name = worktree.home.name
            half_made = about is None and (name == ours[0] or name.startswith(ours[1]))
            if half_made or (about is not None and session in (about.session, about.parent)):
                worktree.remove()

    def sweep(self, journal: str, sessions: Collection[str], caller: str) -> None:
        """Remove what nobody needs any more: all of sessions that this journal has forgotten, and the trees of the
        agents of `caller` that have ended and whose changes were handed over.
        """
        for worktree in self._all():
            about = worktree.about
            if about is None:
                continue
            if journal and about.journal == journal and about.parent not in sessions:
                worktree.remove()
            elif about.parent == caller and worktree.handed_over:
                worktree.clear()
