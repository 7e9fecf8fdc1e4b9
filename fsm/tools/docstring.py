"""What a docstring says about a tool and its parameters."""

import inspect
import re
from collections.abc import Callable
from typing import Final

_SECTION: Final = re.compile(r"^(Args|Arguments|Parameters):\s*$")
_ENTRY: Final = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


def description_of(function: Callable[..., object]) -> str:
    """The first paragraph, on one line."""
    paragraph = (inspect.getdoc(function) or "").split("\n\n", 1)[0]
    return " ".join(paragraph.split())


def parameters_of(function: Callable[..., object]) -> dict[str, str]:
    """Descriptions from an `Args:` section (Google style): one `name: text` per parameter, longer ones indented."""
    found: dict[str, str] = {}
    name, depth, inside = "", 0, False
    for line in (inspect.getdoc(function) or "").splitlines():
        indent = len(line) - len(line.lstrip())
        if not inside:
            inside = bool(_SECTION.match(line))
        elif line.strip() and indent == 0:
            break
        elif line.strip():
            entry = _ENTRY.match(line.strip())
            if entry and (not name or indent <= depth):
                name, depth = entry[1], indent
                found[name] = entry[2].strip()
            elif name:
                found[name] = f"{found[name]} {line.strip()}".strip()
    return found
