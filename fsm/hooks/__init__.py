"""Hooks of the host, around tool calls and at a run's end: functions, and commands as in Claude Code."""

from .hook import Ending, Leave, PostToolUse, PreToolUse, Refusal, Stop, SubagentStop, ToolAnswer, ToolUse
from .runner import HookRunner

__all__ = [
    "Ending",
    "HookRunner",
    "Leave",
    "PostToolUse",
    "PreToolUse",
    "Refusal",
    "Stop",
    "SubagentStop",
    "ToolAnswer",
    "ToolUse",
]
