"""The base of gates that look at the workspace: look once for each candidate, record what was seen, rule on that.

A gate of your own overrides `look`, and `remember` if it compares with how things were before the run.
"""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import attrs

from gates.gate import Gate, OpenOutside
from states.errors import ConfigError
from states.history import History
from states.ports import Outside
from states.records import JSON, Baseline, Finding, Record
from states.verdicts import Fail, Pass, Retry, Ruling


@runtime_checkable
class Files(Protocol):
    """A workspace whose files can be looked at."""

    @property
    def root(self) -> Path: ...

    async def paths(self) -> list[str]:
        """Relative paths of everything that counts, sorted."""

    async def revision(self) -> str: ...


@attrs.frozen
class Sight:
    """What a look showed. `said` is for the model if it does not hold."""

    holds: bool
    said: str = ""


class Observed(Gate):
    """Sends the run back while what it looks for is not so, `patience` times per run, and then fails it."""

    may = (Retry, Fail)
    patience = 3
    """Candidates sent back per run (the budget of the checks)."""

    @abstractmethod
    async def look(self, files: Files, outside: Outside, before: Mapping[str, JSON]) -> Sight:
        """How things are. `before` is what `remember` returned when the run started."""

    async def remember(self, files: Files) -> Mapping[str, JSON]:
        """What has to be known of the workspace as it was; nothing by default."""
        return {}

    async def begin(self, outside: Outside) -> tuple[Record, ...]:
        return (Baseline(self.name, await self.remember(_files(self, outside))),)

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        world = await outside()
        files = _files(self, world)
        baseline = history.baselines.get(self.name)
        before = await files.revision()
        sight = await self.look(files, world, baseline.data if baseline else {})
        unmoved = await files.revision() == before
        return (Finding(self.name, sight.holds, sight.said, before if unmoved else ""),)

    def judge(self, history: History) -> Ruling:
        seq, found = history.findings.get(self.name, (0, None))
        now = history.verification.revision if history.verification else ""
        if found is not None and found.holds and found.revision == now != "":
            return Pass(cites=(seq,))
        why = "the workspace changed while it was looked at" if found is None or found.holds else found.said
        if history.retries[self.name] >= self.patience:
            return Fail(f"{self.name}_failed", why)
        return Retry(why, f"You are not done: {why}. Repair that, then give your final answer again.")


def _files(gate: Gate, outside: Outside) -> Files:
    workspace = outside.workspace
    if not isinstance(workspace, Files):
        raise ConfigError(f"the gate {gate.name!r} looks at files; give the loop a workspace=... that is a folder")
    return workspace
