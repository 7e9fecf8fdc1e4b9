"""Hooks of the host, around tool calls and at a run's end: functions, and commands as in Claude Code."""

from .hook import (
    Ending,
    Leave,
    PostToolUse,
    PreToolUse,
    Refusal,
    SessionEnd,
    SessionMoment,
    SessionStart,
    Stop,
    SubagentStop,
    ToolAnswer,
    ToolUse,
    UserPromptSubmit,
    Words,
)
from .runner import HookRunner
from .sessions import PromptRefused

__all__ = [
    "Ending",
    "HookRunner",
    "Leave",
    "PostToolUse",
    "PreToolUse",
    "PromptRefused",
    "Refusal",
    "SessionEnd",
    "SessionMoment",
    "SessionStart",
    "Stop",
    "SubagentStop",
    "ToolAnswer",
    "ToolUse",
    "UserPromptSubmit",
    "Words",
]
