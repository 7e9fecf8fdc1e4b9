"""tools_work: no tool of the turn has failed over and over. It never objects; it hints."""

from typing import Final

from states.history import History
from states.records import Status
from states.verdicts import Pass, Ruling

from .gate import Gate

STREAK: Final = 3
"""Failures of one tool in a row, from which on each further one brings the hint (blade-code's limit)."""


class ToolsWork(Gate):
    name = "tools_work"
    may = ()

    def judge(self, history: History) -> Ruling:
        failed = {
            state.call.name: None
            for state in history.calls.values()
            if state.result is not None and state.result.status not in (Status.OK, Status.CANCELLED)
        }
        often = [f"{name} ({times} times)" for name in failed if (times := history.failing.get(name, 0)) >= STREAK]
        if not often:
            return Pass()
        hint = (
            f"Failed in a row: {', '.join(often)}. Do not repeat the same call: read the last error, check your "
            "assumptions with another tool, and change your approach."
        )
        return Pass(hint=hint)


tools_work: Final = ToolsWork()
