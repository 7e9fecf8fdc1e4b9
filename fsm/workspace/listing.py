"""Which paths make up a workspace: git's view where there is a repository, otherwise a walk."""

import os
import stat
import subprocess
from collections.abc import Iterator
from typing import Final

from .ignored import is_ignored

_SECONDS: Final = 60
"""Patience with git before walking instead."""
_GIT: Final = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""Nothing that the repository's configuration names is run."""


def paths_of(root: bytes) -> Iterator[bytes]:
    """Relative paths of everything that counts, in no order; also of directories that could not be read."""
    tracked = _git(root, "ls-files", "-z", "--cached")
    if tracked is not None and _git(root, "check-ignore", "-q", ".") is not None:
        tracked = None  # all of it is ignored by a repository around it, which would see nothing of it
    others = None if tracked is None else _git(root, "ls-files", "-z", "--others", "--exclude-standard")
    if tracked is None or others is None:
        yield from _walked(root)
        return
    for listed, is_tracked in ((tracked, True), (others, False)):
        for path in {name.rstrip(b"/") for name in listed.split(b"\0") if name}:
            if not is_ignored(path, tracked=is_tracked):
                yield from _with_inner(root, path)


def _with_inner(root: bytes, path: bytes) -> Iterator[bytes]:
    """The path itself, or the content of a repository inside the repository, of which git lists the name alone."""
    whole = root + b"/" + path
    if not stat.S_ISDIR(_mode(whole)):
        yield path
        return
    for inner in paths_of(whole) if _mode(whole + b"/.git") else _walked(whole):
        yield path + b"/" + inner


def _mode(path: bytes) -> int:
    """Kind and permissions; 0 if nothing can be found there."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _walked(root: bytes) -> Iterator[bytes]:
    todo = [b""]
    while todo:
        directory = todo.pop()
        try:
            with os.scandir(root + b"/" + directory) as entries:
                found = list(entries)
        except OSError:
            yield directory or b"."
            continue
        for entry in found:
            path = directory + b"/" + entry.name if directory else entry.name
            if is_ignored(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                todo.append(path)
            else:
                yield path


def _git(root: bytes, *arguments: str) -> bytes | None:
    """What git prints, or None if it is not there or says no."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603  # fixed arguments
            [*_GIT, *arguments],
            cwd=root,
            env={**environment, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
