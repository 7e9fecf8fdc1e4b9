"""Which lost commands may be run again: a single check, which is there to be run as often as anyone likes."""

import re
from typing import Final

from gates.commands import kinds_of
from states.await_results import UNKNOWN
from states.ports import ToolOutput, ToolRun
from states.records import Status

CHECKS: Final = frozenset({"test", "lint", "type-check"})
"""Kinds that look and report. A build leaves something behind, so a lost one stays unknown."""
_MORE_THAN_ONE: Final = re.compile(r"[;&|<>\n]")


def is_repeatable(command: str) -> bool:
    """One simple command that proves a check, with nothing before it, after it, or written to a file."""
    return not _MORE_THAN_ONE.search(command) and bool(CHECKS & set(kinds_of(command)))


def reconcile(run: ToolRun) -> ToolOutput | None:
    """None lets a lost check run again; of any other command nobody can say whether it happened."""
    return None if is_repeatable(str(run.arguments.get("command", ""))) else ToolOutput(Status.UNKNOWN, UNKNOWN)
