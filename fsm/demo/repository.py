"""The repository of the demonstration: `repository.txt` holds its files, each under a line `=== PATH`."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

_TEXT: Final = Path(__file__).with_name("repository.txt")
_MARK: Final = "=== "
_AUTHOR: Final = ("-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")


def files() -> dict[str, str]:
    """Contents by path."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in _TEXT.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith(_MARK):
            lines = found[line.removeprefix(_MARK).strip()] = []
        else:
            lines.append(line)
    return {path: "".join(lines) for path, lines in found.items()}


def unpack(directory: Path) -> None:
    """Write the files into a directory, and commit them where there is git. Raises OSError."""
    for path, text in files().items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    git = shutil.which("git")
    if git is not None:
        for words in (["init", "--quiet"], ["add", "."], [*_AUTHOR, "commit", "--quiet", "-m", "A basket"]):
            # our own words, and a folder that is passed as one argument
            subprocess.run([git, *words], cwd=directory, check=False, capture_output=True, env=_plain_git())  # noqa: S603


def _plain_git() -> dict[str, str]:
    """Without the user's configuration and hooks."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return inherited | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
