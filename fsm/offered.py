"""The tools that a run is offered: a whitelist of names and patterns over a whole toolbox."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final

import attrs

from states.errors import ConfigError
from states.ports import Toolbox, ToolOutput, ToolRun, ToolSpec
from states.records import JSON, Status

from .housed import Housed

Only = tuple[str, ...] | None
"""Names and patterns (`mcp__files__*`); None offers everything."""
LATER: Final = "mcp__"
"""What names of tools begin with that may not be there yet when a loop is made."""


def as_only(only: Iterable[str] | None, tools: Toolbox) -> Only:
    """Checked against the tools that are there. Raises ConfigError for a name or pattern that none of them fits."""
    if only is None:
        return None
    if isinstance(only, str):
        raise ConfigError(f"only takes a list of tools, not the text {only!r}; write [{only!r}]")
    wanted = tuple(dict.fromkeys(only))
    names = [spec.name for spec in tools.specs]
    for pattern in wanted:
        if not pattern.startswith(LATER) and not any(fnmatchcase(name, pattern) for name in names):
            raise ConfigError(f"no tool fits {pattern!r}; there are: {', '.join(names) or 'none'}")
    return wanted


def offered(tools: Toolbox, only: Only) -> Toolbox:
    """`tools` as far as `only` names them."""
    return tools if only is None else Offered(tools, only)


@attrs.frozen
class Offered(Housed):
    """A toolbox of which only a part is shown to the model, and only that part runs."""

    everything: Toolbox
    only: tuple[str, ...]

    @property
    def parts(self) -> Sequence[Toolbox]:
        return (self.everything,)

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return tuple(spec for spec in self.everything.specs if self._is_offered(spec.name))

    def spec(self, name: str) -> ToolSpec | None:
        return self.everything.spec(name) if self._is_offered(name) else None

    def complaint(self, name: str, arguments: JSON) -> str | None:
        if self._is_offered(name) and self.everything.spec(name) is not None:
            return self.everything.complaint(name, arguments)
        names = ", ".join(spec.name for spec in self.specs) or "none at all"
        if self.everything.spec(name) is None:
            return f"there is no tool {name!r}; the tools are {names}."
        return f"the tool {name!r} is not offered in this run; the tools are {names}."

    async def run(self, run: ToolRun) -> ToolOutput:
        if not self._is_offered(run.name):
            return ToolOutput(Status.ERROR, f"Error: {self.complaint(run.name, dict(run.arguments))} Not started.")
        return await self.everything.run(run)

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        return await self.everything.reconcile(run)

    def _is_offered(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.only)
