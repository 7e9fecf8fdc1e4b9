"""Commands that only read, in a folder whose repository somebody else may have configured."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from fsm.workspace.programs import names_programs
from gates.shell.plain import plain_commands

_SETTINGS: Final = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("safe.bareRepository", "explicit"),
)
_COUNT: Final = "GIT_CONFIG_COUNT"


def looks_safely(command: str, root: Path) -> bool:
    """Whether a text that is known to only read does so in this folder too. Without git in it, nothing is asked."""
    return all(words[0].text != "git" for words in plain_commands(command)) or not names_programs(root)


def looking(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command that only reads: git runs no monitor and no hook, writes no index, and takes no
    folder that merely looks like a bare repository for one.
    """
    given = environment.get(_COUNT, "0")
    first = int(given) if given.isdecimal() else 0
    added = {_COUNT: str(first + len(_SETTINGS)), "GIT_OPTIONAL_LOCKS": "0"}
    for place, (key, value) in enumerate(_SETTINGS, first):
        added |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
    return {**environment, **added}
