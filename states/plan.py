"""Planning: only read-only tools are offered, and the plan is handed over through a reserved one."""

from collections.abc import Sequence
from typing import Final

from .contract import Permission
from .ports import ToolSpec

SUBMIT_PLAN: Final = "submit_plan"
"""The reserved tool that hands a plan over. It is offered while planning, and only then."""

REMINDER: Final = (
    "You are planning: look as much as you need, change nothing. When you know what is to be done, hand the plan over "
    f"with {SUBMIT_PLAN}. It is carried out once a person has approved it."
)
"""Said with each input while planning, and not in the system prompt: that stays the same for the provider's cache."""


def offered(permission: Permission, tools: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
    """The tools that the model is shown under this permission."""
    if permission is Permission.PLAN:
        return [tool for tool in tools if tool.read_only or tool.delegates]
    return [tool for tool in tools if tool.name != SUBMIT_PLAN]
