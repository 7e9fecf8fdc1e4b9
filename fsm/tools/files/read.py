"""read_file and list_dir."""

import os
from typing import Annotated, Final

from fsm.tools.context import ToolError
from fsm.tools.decorate import Tool, tool
from fsm.tools.limits import LIMIT
from fsm.tools.schema import Keywords
from states.text import safe_text

from .confined import Confined, open_directory
from .content import read, text_of

ENTRIES: Final = 1_000
"""Names of one directory that are listed: our choice."""
_ROOM: Final = LIMIT - 1_000
"""Characters of one answer, with room for the header."""


def read_tools(root: Confined) -> list[Tool]:
    @tool(read_only=True, concurrency_safe=True)
    def read_file(
        path: Annotated[str, "the file, relative to the workspace"],
        offset: Annotated[int, "first line to show, from 1", Keywords(minimum=1)] = 1,
        limit: Annotated[int | None, "number of lines to show", Keywords(minimum=1)] = None,
    ) -> str:
        """Show a text file. If only a part is shown, the first line says which, and how to go on."""
        with root.place(path) as place:
            return part(text_of(read(place), place.path), offset, limit)

    @tool(read_only=True, concurrency_safe=True)
    def list_dir(path: Annotated[str, "the directory, relative to the workspace"] = ".") -> str:
        """List the names in a directory; directories end in '/', links show where they lead."""
        with root.place(path) as place:
            descriptor = open_directory(place)
            try:
                with os.scandir(descriptor) as entries:
                    names = sorted(_shown(entry, descriptor) for entry in entries)
            finally:
                os.close(descriptor)
        more = [f"[{len(names) - ENTRIES:,} more names are not shown]"] if len(names) > ENTRIES else []
        return "\n".join([*names[:ENTRIES], *more])

    return [read_file, list_dir]


def part(text: str, offset: int, limit: int | None) -> str:
    """Whole lines from `offset` on, as many as asked for and as fit; the header is there only if something is cut."""
    lines = text.removesuffix("\n").split("\n")
    if offset > len(lines):
        raise ToolError(f"the file has only {len(lines):,} lines; offset {offset:,} is beyond its end.")
    end, size = offset - 1, 0
    while end < len(lines) and (limit is None or end < offset - 1 + limit) and size + len(lines[end]) < _ROOM:
        size += len(lines[end]) + 1
        end += 1
    if offset == 1 and end == len(lines):
        return text
    if end == offset - 1:  # not even one line fits
        long = lines[end]
        return f"[line {offset:,} of {len(lines):,}, cut: {_ROOM:,} of its {len(long):,} characters]\n{long[:_ROOM]}"
    more = f"; go on with offset={end + 1}" if end < len(lines) else ""
    return "\n".join([f"[lines {offset:,} to {end:,} of {len(lines):,}{more}]", *lines[offset - 1 : end]])


def _shown(entry: "os.DirEntry[str]", directory: int) -> str:
    name = safe_text(entry.name)
    if entry.is_symlink():
        return f"{name} -> {safe_text(os.readlink(entry.name, dir_fd=directory))}"
    return f"{name}/" if entry.is_dir(follow_symlinks=False) else name
