"""A git repository, asked so that nothing runs which its configuration names: no hook, filter, monitor or driver."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import attrs

from states.errors import InterlockError

from .git import OPTIONS, program

SECONDS: Final = 300
"""Patience with git for work that grows with the repository (our choice)."""
OWN: Final = b".interlock"
_NOBODY: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Interlock"), ("EMAIL", "interlock@localhost"))
}


class GitFailed(InterlockError):
    """git said no; the message is what it said."""


@attrs.frozen
class Repository:
    """`top` is its working tree, `git_dir` its own folder, `prefix` the workspace below the top (empty or `a/b/`)."""

    top: Path
    git_dir: Path
    prefix: str = ""

    def tree(self, work: Path, index: Path, *, base: str = "", leave_out: Iterable[str] = ()) -> str:
        """Write what is in the folder `work` as a tree: tracked files as they are, and others that are not ignored.

        base: the commit that says what is tracked (empty: the repository's index). leave_out: beginnings of paths.
        Repositories inside the folder, and what Interlock keeps there, are no part of it. The index is not touched.
        """
        index.unlink(missing_ok=True)
        at = {"GIT_INDEX_FILE": str(index), "GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(work)}
        ours = self.git_dir / "index"
        if base:
            self._ask(work, "read-tree", base, more=at)
        elif ours.exists():
            shutil.copy2(ours, index)  # with its times: git goes by them
        self._ask(work, "add", "-u", "--", ".", more=at)
        others = self._ask(work, "ls-files", "-z", "--others", "--exclude-standard", more=at).split(b"\0")
        without = tuple(os.fsencode(str(path)) for path in leave_out)
        root = os.fsencode(work) + b"/"
        wanted = [
            path
            for path in others
            if path
            and not path.endswith(b"/")
            and OWN not in path.split(b"/")
            and not (root + path).startswith(without)
        ]
        self._ask(work, "update-index", "--add", "--remove", "-z", "--stdin", more=at, given=b"\0".join(wanted))
        found = self._ask(work, "write-tree", more=at).decode().strip()
        index.unlink(missing_ok=True)
        return found

    def commit(self, tree: str) -> str:
        """A commit of a tree, on top of HEAD, that no branch knows of."""
        try:
            above = ["-p", self._ask(self.top, "rev-parse", "--verify", "-q", "HEAD").decode().strip()]
        except GitFailed:  # nothing has been committed yet
            above = []
        made = self._ask(self.top, "commit-tree", tree, *above, "-m", "What an agent began with", more=_NOBODY)
        return made.decode().strip()

    def add_worktree(self, folder: Path, commit: str) -> None:
        self._ask(self.top, "worktree", "add", "--force", "--no-checkout", "--detach", str(folder), commit)
        self._ask(folder, "read-tree", "--reset", "-u", "HEAD")

    def remove_worktree(self, folder: Path) -> None:
        """Remove the folder, and what the repository knows of it; neither has to be there."""
        shutil.rmtree(folder, ignore_errors=True)
        try:
            at = {"GIT_DIR": str(self.git_dir)}
            self._ask(self.git_dir, "worktree", "remove", "--force", "--force", str(folder), more=at)
        except GitFailed:  # it knows of none
            if folder.exists():
                raise

    def diff(self, before: str, after: str) -> bytes:
        """What `git apply` needs to make one tree of the other, below the prefix. Binary files are in it."""
        flags = ("-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv")
        return self._ask(self.top, "diff-tree", *flags, "--ignore-submodules=all", before, after, "--", *self._below)

    def names(self, before: str, after: str) -> list[str]:
        """The paths that differ, relative to the top."""
        flags = ("-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=all")
        said = self._ask(self.top, "diff-tree", *flags, before, after, "--", *self._below)
        return [os.fsdecode(path) for path in said.split(b"\0") if path]

    def apply(self, patch: Path, *more: str) -> None:
        """Change the working tree, and not the index. Raises GitFailed."""
        self._ask(self.top, "apply", "--whitespace=nowarn", "--no-ignore-whitespace", *more, str(patch))

    @property
    def _below(self) -> tuple[str, ...]:
        return (f":(top,literal){self.prefix.rstrip('/')}",) if self.prefix else ()

    def _ask(self, where: Path, *asked: str, more: Mapping[str, str] = {}, given: bytes = b"") -> bytes:
        quiet = _silenced(where, more, self.top)
        return ask(where, *asked, more={**quiet, **more}, given=given, inside=self.top)


def repository(folder: Path) -> Repository:
    """The repository that a folder is in. Raises GitFailed where there is none, or the folder is ignored by it."""
    try:
        top, git_dir = (ask(folder, "rev-parse", what).decode() for what in ("--show-toplevel", "--absolute-git-dir"))
    except GitFailed as error:
        raise GitFailed(f"{folder} is not in the working tree of a git repository ({error})") from error
    prefix = os.fsdecode(ask(folder, "rev-parse", "--show-prefix")).removesuffix("\n")
    found = Repository(Path(top.removesuffix("\n")), Path(git_dir.removesuffix("\n")), prefix)
    if prefix:
        try:
            ask(folder, "check-ignore", "-q", ".")
        except GitFailed:
            return found
        raise GitFailed(f"{folder} is ignored by the git repository around it")
    return found


def ask(
    where: Path, *asked: str, more: Mapping[str, str] = {}, given: bytes = b"", inside: Path | None = None
) -> bytes:
    """What git prints. Raises GitFailed with what it says. A git that lies `inside` (None: `where`) is not run."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", **more}
    found = program(str(inside or where), environment.get("PATH", os.defpath))
    if found is None:
        raise GitFailed("there is no git on this machine, or only one inside the workspace; install it")
    try:
        done = subprocess.run(  # noqa: S603  # fixed arguments
            [found, *OPTIONS, *asked],
            cwd=where,
            env=environment,
            input=given,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise GitFailed(f"git {asked[0]}: {error}") from error
    if done.returncode:
        raise GitFailed(done.stderr.decode(errors="replace").strip() or f"git {asked[0]} ended with {done.returncode}")
    return done.stdout


def _silenced(where: Path, more: Mapping[str, str], inside: Path) -> dict[str, str]:
    """Settings, as environment, under which no filter of the configuration is a command: content stays as it is."""
    try:
        said = ask(where, "config", "-z", "--name-only", "--get-regexp", r"^filter\.", more=more, inside=inside)
    except GitFailed:  # it has none
        said = b""
    names = {os.fsdecode(key).rpartition(".")[0] for key in said.split(b"\0") if key}
    pairs = [
        (f"{name}.{what}", value)
        for name in sorted(names)
        for what, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    ]
    pairs += [("core.autocrlf", "false"), ("core.safecrlf", "false")]
    told = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (key, value) in enumerate(pairs):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return told
