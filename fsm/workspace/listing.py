"""Which paths make up a workspace: git's view where there is a repository, otherwise a walk."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from .git import git
from .ignored import Sieve, is_ignored


def paths_of(root: bytes) -> Iterator[bytes]:
    """Relative paths of everything that counts, in no order; also of directories that could not be read."""
    views = _views(root)
    if views is None:
        yield from _walked(root)
        return
    for listed, tracked in zip(views, (True, False), strict=True):
        sieve = Sieve(tracked=tracked)
        for name in filter(None, set(listed.split(b"\0"))):
            path = name.rstrip(b"/")
            if not sieve.ignores(path):
                yield path


def inside(root: bytes, path: bytes) -> Iterator[bytes]:
    """Paths below a listed path that is a directory: git lists a repository inside the repository by its name alone."""
    whole = root + b"/" + path
    for inner in paths_of(whole) if _mode(whole + b"/.git") else _walked(whole):
        yield path + b"/" + inner


def _views(root: bytes) -> tuple[bytes, bytes] | None:
    """What git tracks, and what else it does not ignore; None where it says nothing, or nothing of use."""
    with ThreadPoolExecutor(2) as pool:  # both take a while, and neither waits for the other
        others = pool.submit(git, root, "ls-files", "-z", "--others", "--exclude-standard")
        tracked = git(root, "ls-files", "-z", "--cached")
        # ignored as a whole by a repository around it, it would look empty
        ignored = tracked is not None and git(root, "check-ignore", "-q", ".") is not None
        untracked = others.result()
    return None if tracked is None or untracked is None or ignored else (tracked, untracked)


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
