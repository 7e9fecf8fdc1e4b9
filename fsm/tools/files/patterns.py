"""Glob patterns: `*`, `?`, `[...]` within a name, `**` across directories, `{a,b}` for either."""

import fnmatch
import re
from typing import Final

import attrs

from fsm.tools.context import ToolError

_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_EXPANSIONS: Final = 64
"""Patterns that the braces of one may stand for: our choice."""

Part = re.Pattern[str] | None
"""What one name must match; None stands for `**`."""


@attrs.frozen
class Glob:
    """One pattern. Matching is a walk through its parts, so no pattern takes exponential time."""

    parts: tuple[Part, ...]

    def matches(self, path: str) -> bool:
        """Whether the whole path matches, with '/' between names."""
        at = self._skip({0})
        for name in path.split("/"):
            after = set()
            for i in at:
                if i < len(self.parts):
                    part = self.parts[i]
                    if part is None:
                        after.add(i)
                    elif part.match(name):
                        after.add(i + 1)
            at = self._skip(after)
        return len(self.parts) in at

    def _skip(self, at: set[int]) -> set[int]:
        """Where one can stand as well, since `**` may stand for nothing."""
        found = set(at)
        for i, part in enumerate(self.parts):
            if part is None and i in found:
                found.add(i + 1)
        return found


def globs(pattern: str) -> list[Glob]:
    """Everything that the pattern stands for. Raises ToolError."""
    return [Glob(tuple(map(_part, one.split("/")))) for one in _expanded(pattern)]


def split(pattern: str) -> tuple[str, str]:
    """The directory named by the leading parts without wildcards, and the rest of the pattern."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ToolError(f"the pattern {pattern!r} contains '..'; name the directory itself.")
    if not parts:
        raise ToolError("the pattern is empty; for all files it is **/*")
    plain = 0
    while plain < len(parts) - 1 and not re.search(r"[*?\[{]", parts[plain]):
        plain += 1
    return "/".join(parts[:plain]) or ".", "/".join(parts[plain:])


def _part(part: str) -> Part:
    return None if part == "**" else re.compile(fnmatch.translate(part))


def _expanded(pattern: str) -> list[str]:
    done: list[str] = []
    todo = [pattern]
    while todo:
        if len(done) + len(todo) > _EXPANSIONS:
            raise ToolError(f"the braces in {pattern!r} stand for more than {_EXPANSIONS} patterns.")
        one = todo.pop()
        braces = _BRACES.search(one)
        if braces is None:
            done.append(one)
        else:
            todo += [one[: braces.start()] + option + one[braces.end() :] for option in braces[1].split(",")]
    return done
