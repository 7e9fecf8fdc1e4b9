"""command_passes: a command of the host's own, run by the host for each candidate, ends with 0.

It runs by the toolbox's shell, without the model having asked: what it does has to be harmless to repeat. If the
process is lost meanwhile, it is run again.
"""

from collections.abc import Mapping
from typing import Final

from states.ports import Outside, ToolRun
from states.records import JSON

from .observed import Files, Observed, Sight

SHELL: Final = "bash"
SHOWN: Final = 2000
"""Characters of the output, from its end, that the model reads (our choice)."""


class CommandPasses(Observed):
    name = "command_passes"

    def __init__(self, command: str, *, name: str | None = None) -> None:
        """`command`: as for bash -c, in the workspace. `name`: for a second gate of this kind in one table."""
        self.command = command
        if name is not None:
            self.name = name  # type: ignore[misc]  # the instance's own name, where a class is used twice

    async def look(self, files: Files, outside: Outside, before: Mapping[str, JSON]) -> Sight:
        if outside.tools.spec(SHELL) is None:
            return Sight(False, f"there is no {SHELL} tool with which `{self.command}` could be run")
        await outside.confirm()
        output = await outside.tools.run(ToolRun(SHELL, {"command": self.command}, f"gate:{self.name}"))
        status = output.metadata.get("exit_status")
        shown = output.text[-SHOWN:]
        return Sight(status == 0, f"`{self.command}` has to end with exit status 0, and did not:\n{shown}")
