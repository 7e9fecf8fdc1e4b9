"""glob and grep."""

import os
from collections.abc import Callable
from typing import Annotated, Final

from fsm.tools.context import ToolContext, ToolError
from fsm.tools.decorate import Tool, tool
from states.text import safe_text

from .confined import Confined
from .content import is_binary, read
from .matcher import Matcher
from .patterns import globs, split
from .walk import TooMany, walk

FILES: Final = 1_000
"""Paths of one answer of glob: our choice."""
FILE_LIMIT: Final = 4 * 1024 * 1024
"""Bytes of a file that grep looks into: our choice, above any source file."""


def search_tools(root: Confined, *, seconds: float = 20) -> list[Tool]:
    """`seconds` bounds one grep."""

    @tool(read_only=True, concurrency_safe=True)
    def glob(
        pattern: Annotated[str, "such as src/*.py, **/*.test.ts or **/*.{c,h}; ** stands for any directories"],
        context: ToolContext,
    ) -> str:
        """List files whose path matches. Links are not followed; .git, node_modules and caches are left out."""
        start, rest = split(root.relative(pattern))
        wanted = globs(rest)
        with root.place(start) as place:
            base = f"{place.path}/" if place.path else ""
        found: list[str] = []
        note = ""
        try:
            for file in walk(root, start, lambda: context.cancelled):
                if any(one.matches(file.path.removeprefix(base)) for one in wanted):
                    found.append(safe_text(file.path))
                if len(found) > FILES:
                    found.pop()
                    note = f"[only the first {FILES:,} are shown; narrow the pattern]"
                    break
        except TooMany:
            note = "[the search was cut short: too many files; name a directory in the pattern]"
        return "\n".join([*found, note] if note else found) or "No file matches."

    @tool(read_only=True, concurrency_safe=True)
    def grep(
        pattern: Annotated[str, "a regular expression of Python's re; (?i) at its start ignores case"],
        context: ToolContext,
        path: Annotated[str, "a file or directory, relative to the workspace"] = ".",
    ) -> str:
        """Search lines of text files: path:line:text. Links are not followed; caches and binaries are left out."""
        with Matcher(pattern, seconds, lambda: context.cancelled) as matcher:
            notes = _feed(root, path, matcher, lambda: context.cancelled)
            found = matcher.finish()
        if found.error:
            raise ToolError(f"the pattern is no regular expression: {found.error}")
        notes += [found.note] if found.note else []
        return "\n".join([*found.lines, *notes] if found.lines or notes else ["No line matches."])

    return [glob, grep]


def _feed(root: Confined, path: str, matcher: Matcher, stopped: Callable[[], bool]) -> list[str]:
    """Hand the matcher one file after the other; says what was left out."""
    large = 0
    try:
        for file in walk(root, path, stopped):
            try:
                place = file.place()
                if place.status and place.status.st_size > FILE_LIMIT:
                    large += 1
                    continue
                content = read(place, FILE_LIMIT)
            except (ToolError, OSError):  # a FIFO, a link, unreadable, gone
                continue
            if not is_binary(content) and not matcher.feed(safe_text(os.fsencode(file.path)), content):
                break
    except TooMany:
        return ["[the search was cut short: too many files; name a directory]"]
    return [f"[{large} files above {FILE_LIMIT:,} bytes were left out]"] if large else []
