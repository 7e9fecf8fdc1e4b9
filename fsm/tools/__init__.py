"""Tools: typed functions that the model may call, and the ones that work on a workspace."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .ask_user import ask_user
    from .context import ToolContext, ToolError
    from .decorate import Tool, tool
    from .injected import Injected
    from .mcp import MCPServer
    from .returned import NeedsConfirmation
    from .schema import Keywords
    from .toolbox import Tools
    from .workspace import workspace_tools

__all__ = [
    "Injected",
    "Keywords",
    "MCPServer",
    "NeedsConfirmation",
    "Tool",
    "ToolContext",
    "ToolError",
    "Tools",
    "ask_user",
    "tool",
    "workspace_tools",
]

_HOME: Final = {
    "Injected": "injected",
    "Keywords": "schema",
    "MCPServer": "mcp",
    "NeedsConfirmation": "returned",
    "Tool": "decorate",
    "ToolContext": "context",
    "ToolError": "context",
    "Tools": "toolbox",
    "ask_user": "ask_user",
    "tool": "decorate",
    "workspace_tools": "workspace",
}


def __getattr__(name: str) -> object:
    """Import on first use, so that `import fsm` stays light."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
