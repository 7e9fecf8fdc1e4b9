"""plan_handed_over: whoever plans hands a plan over. Planning never ends in success: that a plan is good is not that
the task is done, and nothing was carried out.
"""

from typing import Final

from states.contract import Permission
from states.history import History
from states.plan import SUBMIT_PLAN
from states.verdicts import Pass, Retry, Ruling, Suspend, WaitsFor

from .gate import Gate

RETRIES: Final = 2
"""How often a model that plans is asked for its plan, per run (our choice)."""

MESSAGE: Final = (
    f"You are still planning, and this is no plan yet. Hand it over with {SUBMIT_PLAN}; if there is nothing to plan, "
    "hand over what you found."
)


class PlanHandedOver(Gate):
    name = "plan_handed_over"
    may = (Retry, Suspend)

    def judge(self, history: History) -> Ruling:
        if history.permission is not Permission.PLAN or (history.started and history.started.parent):
            return Pass()  # an agent of one who plans looks things up for it: the plan is its caller's
        if history.retries[self.name] < RETRIES:
            return Retry("an answer, but no plan", MESSAGE, SUBMIT_PLAN)
        return Suspend(
            WaitsFor.ANSWER,
            "the model ended its planning without handing a plan over. Say how to go on, or change the permission.",
        )


plan_handed_over: Final = PlanHandedOver()
