"""What a repository's own configuration would have git run while it only looks."""

import re
from pathlib import Path
from typing import Final

from .git import git

_NOT_THE_FOLDERS: Final = frozenset({b"system", b"global", b"command"})
_RUNS: Final = re.compile(
    rb"""
    filter\..*\.(clean|smudge|process) | diff\.external | diff\..*\.(command|textconv) | gpg\.(.*\.)?program
    | log\.showsignature | pretty\..* | format\.pretty | core\.(alternaterefscommand|sshcommand|gitproxy)
    | remote\..*\.(promisor|partialclonefilter|uploadpack|vcs) | extensions\.partialclone | trailer\..*\.(command|cmd)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Keys that name a program which `status`, `diff`, `log`, `show` or `blame` starts, or that make one of them start it.
A file system monitor and hooks are not among them: those can be switched off, see `git`."""


def names_programs(root: Path) -> bool:
    """Whether the repository at `root` (not the user's own configuration) has a program run by git commands that look.

    False where git is not there or finds no repository: then git would run nothing either.
    """
    listed = git(str(root), "config", "--list", "--show-scope", "--name-only", "-z")
    fields = (listed or b"").split(b"\0")
    return any(
        scope not in _NOT_THE_FOLDERS and _RUNS.fullmatch(key)
        for scope, key in zip(fields[::2], fields[1::2], strict=False)
    )
