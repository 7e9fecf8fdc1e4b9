"""Asks git, which may not be there."""

import os
import subprocess
from typing import Final

SECONDS: Final = 60
"""Patience with git before doing without it."""
GIT: Final = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""Nothing that the repository's configuration names is run."""


def git(root: bytes | str, *arguments: str, seconds: float = SECONDS) -> bytes | None:
    """What git prints, or None if it is not there or says no."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603  # fixed arguments
            [*GIT, *arguments],
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
