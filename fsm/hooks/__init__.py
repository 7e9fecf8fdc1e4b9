"""Hooks of the host around tool calls: Python callables, and commands with the conventions of Claude Code."""

from .hook import PostToolUse, PreToolUse, ToolAnswer, ToolUse
from .runner import HookRunner

__all__ = ["HookRunner", "PostToolUse", "PreToolUse", "ToolAnswer", "ToolUse"]
