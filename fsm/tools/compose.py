"""Several toolboxes as one, or some tools of one."""

from collections.abc import Collection, Sequence
from pathlib import Path

import attrs

from fsm.housed import Housed
from states.errors import ConfigError
from states.ports import Toolbox, ToolOutput, ToolRun, ToolSpec
from states.records import JSON, Status

from .toolbox import Tools


@attrs.frozen
class Composed(Housed):
    """Implements `Toolbox` and `Living`: the tools of `boxes`, or those of them whose names are in `only`."""

    boxes: tuple[Toolbox, ...]
    only: Collection[str] | None = None

    @property
    def parts(self) -> Sequence[Toolbox]:
        return self.boxes

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return tuple(spec for box in self.boxes for spec in box.specs if self._has(spec.name))

    def spec(self, name: str) -> ToolSpec | None:
        home = self._home(name)
        return home.spec(name) if home else None

    def complaint(self, name: str, arguments: JSON) -> str | None:
        home = self._home(name)
        if home is None:
            known = ", ".join(spec.name for spec in self.specs) or "none at all"
            return f"there is no tool {name!r}; the tools are {known}."
        return home.complaint(name, arguments)

    async def run(self, run: ToolRun) -> ToolOutput:
        home = self._home(run.name)
        if home is None:
            return ToolOutput(Status.ERROR, f"Error: {self.complaint(run.name, {})} Not started.")
        return await home.run(run)

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        home = self._home(run.name)
        if home is None:
            return ToolOutput(Status.UNKNOWN, f"Unknown: the tool {run.name!r} is not there any more to be asked.")
        return await home.reconcile(run)

    def _has(self, name: str) -> bool:
        return self.only is None or name in self.only

    def _home(self, name: str) -> Toolbox | None:
        return next((box for box in self.boxes if box.spec(name) is not None), None) if self._has(name) else None


def joined(*boxes: Toolbox) -> Toolbox:
    """All tools of all boxes. Raises ConfigError for a name that two of them have."""
    names = [spec.name for box in boxes for spec in box.specs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"two tools are called {twice!r}: rename one of them")
    return Composed(boxes)


def elsewhere(box: Toolbox, workspace: Path) -> Toolbox:
    """The same tools for another workspace. Raises ConfigError for a toolbox that cannot be moved."""
    if isinstance(box, Composed):
        return Composed(tuple(elsewhere(part, workspace) for part in box.boxes), box.only)
    if isinstance(box, Tools):
        return box.elsewhere(workspace)
    raise ConfigError(
        f"an agent cannot work in a worktree with a {type(box).__name__}, whose tools may be bound to a folder; give "
        "the loop tools made with @tool"
    )


def picked(box: Toolbox, names: Collection[str]) -> Toolbox:
    """Only the tools with these names."""
    return Composed((box,), frozenset(names))
