"""budget_left: there is enough left for more work. It is asked before work, never before an end."""

from typing import Final

from states.history import History
from states.verdicts import Pass, Ruling, Suspend, WaitsFor

from .gate import Gate


class BudgetLeft(Gate):
    name = "budget_left"
    may = (Suspend,)

    def judge(self, history: History) -> Ruling:
        spent = _spent(history)
        if spent is None:
            return Pass()
        return Suspend(WaitsFor.BUDGET, f"out of budget: {spent}. Resume with a larger budget to go on.")


def _spent(history: History) -> str | None:
    budget = history.budget
    if budget.max_turns is not None and history.turns >= budget.max_turns:
        return f"{history.turns} of {budget.max_turns} turns"
    if budget.tokens is not None and history.usage.total >= budget.tokens:
        return f"{history.usage.total} of {budget.tokens} tokens"
    if budget.seconds is not None and history.seconds >= budget.seconds:
        return f"{history.seconds:.0f} of {budget.seconds:g} seconds"
    if budget.max_tool_calls is not None and history.tool_calls > budget.max_tool_calls:
        return f"{history.tool_calls} calls asked for, {budget.max_tool_calls} allowed"
    return None


budget_left: Final = BudgetLeft()
