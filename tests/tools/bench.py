"""What the tests of tools share: a toolbox on a real directory, and a way to run one call."""

import asyncio
from pathlib import Path

from fsm.tools import Tools, workspace_tools
from states.ports import ToolOutput, ToolRun


class Bench:
    """A workspace, its tools, and the progress lines of the last call."""

    def __init__(self, tmp_path: Path, **options):
        self.root = tmp_path / "workspace"
        self.root.mkdir()
        self.outside = tmp_path / "outside"
        self.outside.mkdir()
        self.state = self.root / ".interlock"
        self.tools = Tools(workspace_tools(self.root, self.state, **options))
        self.lines: list[str] = []
        self.number = 0

    def request(self, name, *, key=None, **arguments) -> ToolRun:
        self.number += 1
        return ToolRun(name, arguments, key or f"s:{self.number}", self.lines.append)

    def run(self, name, *, key=None, **arguments) -> ToolOutput:
        return asyncio.run(self.tools.run(self.request(name, key=key, **arguments)))

    def reconcile(self, name, key, **arguments) -> ToolOutput | None:
        return asyncio.run(self.tools.reconcile(self.request(name, key=key, **arguments)))

    def file(self, path: str, content: str | bytes = "") -> Path:
        whole = self.root / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(content.encode() if isinstance(content, str) else content)
        return whole
