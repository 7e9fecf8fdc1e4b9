"""Tools of MCP servers (extra `mcp`): started or called over HTTP, listed, filtered, and answered truthfully."""

from .server import MCPServer

__all__ = ["MCPServer"]
