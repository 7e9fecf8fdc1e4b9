"""write_file and edit_file: whole-file replacement that can be told apart from nothing after a crash."""

from typing import Annotated

from fsm.tools.context import ToolContext, ToolError
from fsm.tools.decorate import Tool, tool
from states.ports import ToolOutput, ToolRun
from states.records import Status

from .confined import Confined
from .content import is_binary, read
from .effects import Effects, digest
from .path_locks import alone
from .replace import remove_draft, replace


def write_tools(root: Confined, effects: Effects) -> list[Tool]:
    def reconcile(run: ToolRun) -> ToolOutput | None:
        return outcome(root, effects, run.key)

    @tool(reconcile=reconcile)
    def write_file(
        path: Annotated[str, "where, relative to the workspace"],
        content: Annotated[str, "the whole new text"],
        context: ToolContext,
    ) -> ToolOutput:
        """Create a file, or replace its whole content. Missing directories are made."""
        body = content.encode()
        with alone(root.root / path, lambda: context.cancelled), root.place(path, make_parents=True) as place:
            root.check_writable(place.path)
            before = None if place.status is None else read(place)
            said = f"{'Created' if before is None else 'Replaced'} {place.path} ({len(body):,} bytes)."
            made = replace(place, body, before, (effects, context.key, said))
        return ToolOutput(Status.OK, said, made.metadata)

    @tool(reconcile=reconcile)
    def edit_file(
        path: Annotated[str, "the file, relative to the workspace"],
        old_string: Annotated[str, "the exact text to replace, with enough around it to be unique"],
        new_string: Annotated[str, "what to put in its place"],
        context: ToolContext,
        *,
        replace_all: Annotated[bool, "replace every occurrence"] = False,
    ) -> ToolOutput:
        """Replace an exact piece of a file's text. It must occur once, unless replace_all is set."""
        with alone(root.root / path, lambda: context.cancelled), root.place(path) as place:
            root.check_writable(place.path)
            before = read(place)
            after, count = edited(before, old_string, new_string, replace_all=replace_all)
            said = f"Edited {place.path} ({count} replacement{'s' if count > 1 else ''})."
            made = replace(place, after, before, (effects, context.key, said))
        return ToolOutput(Status.OK, said, made.metadata)

    return [write_file, edit_file]


def edited(content: bytes, old: str, new: str, *, replace_all: bool) -> tuple[bytes, int]:
    """The new content and the number of replacements; bytes around them stay as they are. Raises ToolError."""
    if is_binary(content):
        raise ToolError("this is a binary file; it cannot be edited as text.")
    if not old:
        raise ToolError("old_string is empty; use write_file to write a whole file.")
    if old == new:
        raise ToolError("old_string and new_string are the same; nothing was changed.")
    count = content.count(old.encode())
    if count == 0:
        crlf = "\n" in old and content.count(old.replace("\n", "\r\n").encode())
        hint = " The file's lines end in \\r\\n; say so in old_string." if crlf else " Read the file again."
        raise ToolError(f"old_string was not found; nothing was changed.{hint}")
    if count > 1 and not replace_all:
        raise ToolError(
            f"old_string was found {count} times; nothing was changed. Give more text around it, or set replace_all."
        )
    return content.replace(old.encode(), new.encode()), count


def outcome(root: Confined, effects: Effects, key: str) -> ToolOutput | None:
    """What became of an earlier write with this key; None if it did not happen. Raises if nothing can be found out."""
    receipt = effects.find(key)
    if receipt is None:
        return None
    with root.place(receipt.path) as place:
        remove_draft(place, key)
        now = None if place.status is None else digest(read(place))
    if now == receipt.after:
        return ToolOutput(Status.OK, receipt.said, receipt.metadata)
    if now == receipt.before:
        return None
    return ToolOutput(
        Status.UNKNOWN,
        f"Unknown: the process was lost while it wrote {receipt.path}, and the file is now neither what it was nor "
        "what it was to become. Read it before you write it again.",
    )
