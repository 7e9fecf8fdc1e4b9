"""The rule that lets a call like this one run from now on."""

import re
from typing import Final

from states.records import JSON

from .paths import inside, path_of
from .rule import SHELL

_SPECIAL: Final = re.compile(r"([\\*?])")


def rule_for(name: str, arguments: JSON, root: str) -> str:
    """For a shell exactly this text, for a tool that works on a path this path, for any other the tool."""
    given = arguments if isinstance(arguments, dict) else {}
    command, path = given.get("command"), path_of(given)
    if name == SHELL and isinstance(command, str):
        literal = _SPECIAL.sub(r"\\\1", command.strip())
        return f"{name}({literal})"
    if path is not None and not _SPECIAL.search(path):
        return f"{name}(/{inside(path, root)})"
    return name
