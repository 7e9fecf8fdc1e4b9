"""submit_plan: the reserved tool through which a plan is handed over."""

from typing import Annotated, Final

from states.plan import SUBMIT_PLAN
from states.ports import ToolOutput
from states.records import Status

from .context import ToolError
from .decorate import Tool, tool

HANDED_OVER: Final = "The plan is handed over. A person reviews it; their answer comes next."


@tool(name=SUBMIT_PLAN, read_only=True)
async def _submit_plan(plan: Annotated[str, "the steps, in order, in Markdown"]) -> ToolOutput:
    """Hand your plan over for review. Nothing is carried out before a person has approved it."""
    if not plan.strip():
        raise ToolError("the plan is empty; say what you are going to do.")
    return ToolOutput(Status.OK, HANDED_OVER, asks=plan)


submit_plan: Final[Tool] = _submit_plan
