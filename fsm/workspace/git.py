"""Asks git, which may not be there."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

SECONDS: Final = 60
"""Patience with git before doing without it."""
OPTIONS: Final = (
    "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit",
)  # fmt: skip
"""Monitors and hooks that the repository's configuration names are not run, and a folder that merely looks like a bare
repository is none. Filters cannot be switched off so: whoever lets git look into files asks `names_programs` first."""


def git(root: bytes | str, *arguments: str, seconds: float = SECONDS) -> bytes | None:
    """What git prints, or None if it is not there or says no."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    found = program(os.fsdecode(root), environment.get("PATH", os.defpath))
    if found is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603  # fixed arguments
            [found, *OPTIONS, *arguments],
            cwd=root,
            env={**environment, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def program(root: str, path: str) -> str | None:
    """The first git of the search path that does not lie in the workspace: that one would be the workspace's word."""
    inside = Path(os.path.realpath(root))
    for folder in path.split(os.pathsep):
        if Path(folder).is_absolute() and not Path(os.path.realpath(folder)).is_relative_to(inside):
            found = shutil.which("git", path=folder)
            if found is not None:
                return found
    return None
