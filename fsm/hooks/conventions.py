"""How hook commands are spoken to: JSON on their input, an exit status and JSON from them, as Claude Code does it."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from states.records import JSON

from .hook import PreToolUse, ToolAnswer, ToolUse

NAMES: Final[Mapping[str, str]] = {
    "bash": "Bash",
    "read_file": "Read",
    "write_file": "Write",
    "edit_file": "Edit",
    "list_dir": "LS",
    "glob": "Glob",
    "grep": "Grep",
    "task": "Task",
}
"""Our tools by the names that such hooks know. Others keep theirs."""
_PATHS: Final = frozenset({"read_file", "write_file", "edit_file"})
"""Tools whose `path` they call `file_path`."""
BLOCKED: Final = 2
"""Exit status that objects; the reason stands on standard error."""


class Misunderstood(Exception):
    """What a command printed or how it ended is no answer; the message says why."""


def question(kind: type, use: ToolUse, directory: str) -> bytes:
    """What a command reads on its standard input."""
    before = kind is PreToolUse
    said: dict[str, JSON] = {
        "session_id": use.session,
        "transcript_path": "",
        "cwd": directory,
        "hook_event_name": kind.__name__,
        "tool_name": NAMES.get(use.name, use.name),
        "tool_input": renamed(use.name, use.arguments, "path", "file_path"),
        "tool_use_id": use.call,
    }
    if not before:
        said["tool_response"] = {"output": use.output, "is_error": use.failed}
    return orjson.dumps(said)


def renamed(name: str, arguments: Mapping[str, JSON], old: str, new: str) -> dict[str, JSON]:
    """The arguments with a path under the other side's name for it."""
    return {new if key == old and name in _PATHS else key: value for key, value in arguments.items()}


def answer(kind: type, use: ToolUse, status: int, printed: str, complained: str) -> ToolAnswer:
    """What a command meant. Raises Misunderstood where it failed or said nothing that can be understood."""
    before = kind is PreToolUse
    if status == BLOCKED:
        why = complained.strip() or "it gave no reason"
        return ToolAnswer(deny=why) if before else ToolAnswer(error=why)
    said = spoken(status, printed, complained)
    return _before(use, said) if before else _after(said)


def spoken(status: int, printed: str, complained: str) -> dict[str, Any]:
    """The JSON that a command printed; none is an empty answer. Raises Misunderstood for what is broken or failed."""
    if status != 0:
        raise Misunderstood(f"exit status {status}: {complained.strip()[:300]}")
    if not printed.lstrip().startswith("{"):
        return {}
    try:
        said: dict[str, Any] = orjson.loads(printed)
    except ValueError as error:
        raise Misunderstood(f"its output begins like JSON and is none: {error}") from error
    return said


def _before(use: ToolUse, said: dict[str, Any]) -> ToolAnswer:
    own = own_part(said)
    decision = own.get("permissionDecision", {"block": "deny"}.get(str(said.get("decision")), ""))
    reasons = (own.get("permissionDecisionReason"), said.get("reason"), said.get("stopReason"), "it gave no reason")
    why = str(next(reason for reason in reasons if reason))
    if decision == "deny" or said.get("continue") is False:
        return ToolAnswer(deny=why)
    changed = own.get("updatedInput")
    if changed is not None and not isinstance(changed, dict):
        raise Misunderstood("its updatedInput is no object")
    arguments = None if changed is None else renamed(use.name, changed, "file_path", "path")
    return ToolAnswer(ask=why if decision == "ask" else "", arguments=arguments)


def _after(said: dict[str, Any]) -> ToolAnswer:
    own = own_part(said)
    replaced = own.get("updatedToolOutput", own.get("updatedMCPToolOutput"))
    return ToolAnswer(
        output=None if replaced is None else replaced if isinstance(replaced, str) else orjson.dumps(replaced).decode(),
        add=str(own.get("additionalContext") or ""),
        error=str(said.get("reason") or "it gave no reason") if said.get("decision") == "block" else "",
    )


def own_part(said: dict[str, Any]) -> dict[str, Any]:
    """What it says about its event in particular."""
    own = said.get("hookSpecificOutput")
    if own is not None and not isinstance(own, dict):
        raise Misunderstood("its hookSpecificOutput is no object")
    return own or {}
