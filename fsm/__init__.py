"""Interlock: an agent's loop as an explicit state machine over a durable journal.

Motion: the table (`graph`), the machine that reads it, the driver that moves a run, and the real parts around it.
Everything documented is imported from here or from `fsm.providers` and `fsm.checks`.
"""

from typing import TYPE_CHECKING

import gates
import states

for _package in (states, gates):
    if not getattr(_package, "INTERLOCK", False):
        raise ImportError(
            f"interlock needs its own package {_package.__name__!r}, but {_package.__file__ or _package.__path__} "
            "comes first on the import path; rename or move that module"
        )

from gates.gate import Fact, Gate  # noqa: E402  after the check that the packages are ours
from states.contract import Budget, Contract, Permission  # noqa: E402
from states.errors import InterlockError  # noqa: E402
from states.history import History  # noqa: E402
from states.names import Event, State  # noqa: E402
from states.rules import Rules  # noqa: E402
from states.verdicts import Fail, Pass, Retry, Suspend, WaitsFor  # noqa: E402

from .approvals import ApprovalAnswer, ApprovalRequest  # noqa: E402
from .graph import GRAPH, Graph, Row, Table, default_graph, table  # noqa: E402
from .limits import Limits  # noqa: E402
from .loop import Loop  # noqa: E402
from .prompts import Prompt  # noqa: E402
from .result import Result, RunStatus  # noqa: E402

if TYPE_CHECKING:
    from .agents import Agent, load_agents
    from .tools import (
        Injected,
        Keywords,
        MCPServer,
        NeedsConfirmation,
        Tool,
        ToolContext,
        ToolError,
        ask_user,
        tool,
        workspace_tools,
    )

_LATE = {
    "Agent": "agents",
    "load_agents": "agents",
    **dict.fromkeys(("Injected", "Keywords", "MCPServer", "NeedsConfirmation", "Tool"), "tools"),
    **dict.fromkeys(("ToolContext", "ToolError", "ask_user", "tool", "workspace_tools"), "tools"),
}


def __getattr__(name: str) -> object:
    """Tools load when they are first asked for: whoever only reads a journal does not pay for them."""
    if name in _LATE:
        from importlib import import_module

        value: object = getattr(import_module(f".{_LATE[name]}", __name__), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "GRAPH",
    "Agent",
    "ApprovalAnswer",
    "ApprovalRequest",
    "Budget",
    "Contract",
    "Event",
    "Fact",
    "Fail",
    "Gate",
    "Graph",
    "History",
    "Injected",
    "InterlockError",
    "Keywords",
    "Limits",
    "Loop",
    "MCPServer",
    "NeedsConfirmation",
    "Pass",
    "Permission",
    "Prompt",
    "Result",
    "Retry",
    "Row",
    "Rules",
    "RunStatus",
    "State",
    "Suspend",
    "Table",
    "Tool",
    "ToolContext",
    "ToolError",
    "WaitsFor",
    "ask_user",
    "default_graph",
    "load_agents",
    "table",
    "tool",
    "workspace_tools",
]
