"""Which folders the user trusts to run commands unasked: a cloned repository must not be able to say so itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

FILE: Final = "interlock/trusted"
"""Under the user's configuration (XDG_CONFIG_HOME, else ~/.config): one folder a line; `#` begins a comment."""


def trust_file(environment: Mapping[str, str]) -> Path:
    home = environment.get("XDG_CONFIG_HOME") or str(Path(environment.get("HOME") or Path.home(), ".config"))
    return Path(home, FILE)


def is_trusted(workspace: Path, environment: Mapping[str, str]) -> bool:
    """Whether the workspace, or a folder above it, stands in the user's own list. A file inside it does not count."""
    path, root = trust_file(environment), workspace.resolve()
    if path.resolve().is_relative_to(root):
        return False
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    listed = [line.partition("#")[0].strip() for line in lines]
    return any(root.is_relative_to(Path(folder).expanduser().resolve()) for folder in listed if folder)
