"""budget_left: there is enough left for more work. It is asked before work, never before an end."""

from collections.abc import Callable
from typing import Final

from states.contract import Budget
from states.history import History
from states.verdicts import Pass, Ruling, Suspend, WaitsFor

from .gate import Gate


class BudgetLeft(Gate):
    name = "budget_left"
    may = (Suspend,)

    def judge(self, history: History) -> Ruling:
        spent = next((said for limit in LIMITS if (said := limit(history.budget, history)) is not None), None)
        if spent is None:
            return Pass()
        return Suspend(WaitsFor.BUDGET, f"out of budget: {spent}. Resume with a larger budget to go on.")


def _turns(budget: Budget, history: History) -> str | None:
    return _reached(history.turns, budget.max_turns, "turns")


def _tokens(budget: Budget, history: History) -> str | None:
    if budget.tokens is None or history.usage.total < budget.tokens - (budget.reserve or 0):
        return None
    kept = f" ({budget.reserve} of them are kept for a summary)" if budget.reserve else ""
    return f"{history.usage.total} of {budget.tokens} tokens{kept}"


def _input(budget: Budget, history: History) -> str | None:
    return _reached(history.usage.input, budget.input_tokens, "input tokens")


def _output(budget: Budget, history: History) -> str | None:
    return _reached(history.usage.output, budget.output_tokens, "output tokens")


def _reasoning(budget: Budget, history: History) -> str | None:
    return _reached(history.usage.reasoning, budget.reasoning_tokens, "reasoning tokens")


def _cost(budget: Budget, history: History) -> str | None:
    if budget.cost is None:
        return None
    if history.unpriced:
        return f"what {history.unpriced} costs is not known, so a cost of {budget.cost:g} USD cannot be kept"
    return f"{history.cost:.4f} of {budget.cost:g} USD" if history.cost >= budget.cost else None


def _seconds(budget: Budget, history: History) -> str | None:
    if budget.seconds is None or history.seconds < budget.seconds:
        return None
    return f"{history.seconds:.0f} of {budget.seconds:g} seconds"


def _calls(budget: Budget, history: History) -> str | None:
    return _asked(history.tool_calls, budget.max_tool_calls, "calls")


def _delegated(budget: Budget, history: History) -> str | None:
    return _asked(history.delegated, budget.max_delegated, "runs of other agents")


def _reached(spent: int, limit: int | None, what: str) -> str | None:
    return f"{spent} of {limit} {what}" if limit is not None and spent >= limit else None


def _asked(asked: int, limit: int | None, what: str) -> str | None:
    """Counted when the model asks, before any of them starts."""
    return f"{asked} {what} asked for, {limit} allowed" if limit is not None and asked > limit else None


Limit = Callable[[Budget, History], str | None]
"""Says what is spent, or None."""
SPENT_FOR_GOOD: Final[tuple[Limit, ...]] = (_input, _output, _reasoning, _cost, _seconds)
"""Limits beyond which the model is not even asked for a summary."""
LIMITS: Final[tuple[Limit, ...]] = (_turns, _tokens, *SPENT_FOR_GOOD, _calls, _delegated)
"""The first that is spent gives the reason."""

budget_left: Final = BudgetLeft()
