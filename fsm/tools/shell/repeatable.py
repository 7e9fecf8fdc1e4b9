"""Which lost commands may be run again: what provably only reads, and a single check, which is there for that."""

import re
from collections.abc import Mapping
from typing import Final

from gates.commands import kinds_of
from gates.shell.read_only import provably_read_only, reads_inside
from states.await_results import UNKNOWN
from states.ports import ToolOutput, ToolRun
from states.records import JSON, Status

CHECKS: Final = frozenset({"test", "lint", "type-check"})
"""Kinds that look and report. A build leaves something behind, so a lost one stays unknown."""
_MORE_THAN_ONE: Final = re.compile(r"[;&|<>\n]")


def is_repeatable(command: str) -> bool:
    """Nothing but commands that read; or one that proves a check, alone and without writing its output to a file."""
    alone = not _MORE_THAN_ONE.search(command)
    return provably_read_only(command) or (alone and bool(CHECKS & set(kinds_of(command))))


def only_reads(arguments: Mapping[str, JSON]) -> bool:
    """Whether the command certainly changes nothing and looks at nothing outside the workspace."""
    return not arguments.get("background") and reads_inside(str(arguments.get("command", "")))


def reconcile(run: ToolRun) -> ToolOutput | None:
    """None lets it run again; of any other command nobody can say whether it happened."""
    return None if is_repeatable(str(run.arguments.get("command", ""))) else ToolOutput(Status.UNKNOWN, UNKNOWN)
