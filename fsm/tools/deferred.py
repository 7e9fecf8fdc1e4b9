"""tool_search: the catalogue of the tools whose schemas are not sent, and the way to load them.

The catalogue is the tool's description: it is made anew at each provider turn, and the same as long as the tools are.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from operator import is_
from typing import Annotated, Final

import attrs

from fsm.housed import Housed
from fsm.visible import one_line
from states.deferred import LOADED, TOOL_SEARCH
from states.plan import SUBMIT_PLAN
from states.ports import Toolbox, ToolOutput, ToolRun, ToolSpec
from states.records import JSON, Status

from .decorate import tool
from .toolbox import Tools

FOUND: Final = 5
"""Tools that a search by words loads at most (our choice: a few schemas, not the whole catalogue again)."""
NAMED: Final = 20
"""Tools that a call may name."""
LINE: Final = 160
"""Characters of a description that the catalogue shows."""


@tool(name=TOOL_SEARCH, read_only=True, concurrency_safe=True)
async def _tool_search(
    names: Annotated[list[str], "names of tools to load, exactly as listed"] = [],  # noqa: B006  never changed
    query: Annotated[str, "or words of what you look for; the tools that fit best are loaded"] = "",
) -> None:
    """Load tools whose parameters you do not know yet: they can be called from the next turn on. There are:"""


@attrs.define(eq=False)
class Deferring(Housed):
    """A `Toolbox` some of whose tools are shown by name alone until the model loads them."""

    everything: Toolbox
    patterns: tuple[str, ...] = ()
    _own: Tools = attrs.field(factory=lambda: Tools([_tool_search]))
    _seen: tuple[ToolSpec, ...] = ()
    _specs: tuple[ToolSpec, ...] = ()

    @property
    def parts(self) -> Sequence[Toolbox]:
        return (self.everything,)

    @property
    def specs(self) -> Sequence[ToolSpec]:
        now = tuple(self.everything.specs)
        if len(now) != len(self._seen) or not all(map(is_, now, self._seen)):
            self._seen, self._specs = now, self._made(now)
        return self._specs

    def _made(self, now: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        marked = tuple(self._marked(spec) for spec in now)
        later = [spec for spec in marked if spec.deferred]
        return (*marked, _search(later)) if later else marked

    def _marked(self, spec: ToolSpec) -> ToolSpec:
        fits = spec.name != SUBMIT_PLAN and any(fnmatchcase(spec.name, pattern) for pattern in self.patterns)
        return attrs.evolve(spec, deferred=True) if fits and not spec.deferred else spec

    @property
    def _later(self) -> list[ToolSpec]:
        return [spec for spec in self.specs if spec.deferred]

    def spec(self, name: str) -> ToolSpec | None:
        return next((spec for spec in self.specs if spec.name == name), None)

    def complaint(self, name: str, arguments: JSON) -> str | None:
        if name == TOOL_SEARCH and self._later:
            return self._own.complaint(name, arguments)
        return self.everything.complaint(name, arguments)

    async def run(self, run: ToolRun) -> ToolOutput:
        if run.name != TOOL_SEARCH or not self._later:
            return await self.everything.run(run)
        names, query = run.arguments.get("names"), run.arguments.get("query")
        return found(self._later, names if isinstance(names, list) else [], str(query or ""))

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        return None if run.name == TOOL_SEARCH else await self.everything.reconcile(run)


def _search(later: Sequence[ToolSpec]) -> ToolSpec:
    """With the catalogue, for which nothing is asked but the tools themselves."""
    spec = _tool_search.spec
    return attrs.evolve(spec, description="\n".join([spec.description, *map(_line, later)]))


def _line(spec: ToolSpec) -> str:
    first = spec.description.strip().partition("\n")[0]
    return f"- {spec.name}: {one_line(first, LINE)}" if first else f"- {spec.name}"


def found(later: Sequence[ToolSpec], names: Sequence[JSON], query: str) -> ToolOutput:
    """What a search loads, as its result: by names, and by words."""
    known = {spec.name: spec for spec in later}
    wanted = [str(name) for name in names]
    if len(wanted) > NAMED:
        return ToolOutput(Status.ERROR, f"Error: {len(wanted)} names; load at most {NAMED} tools at once.")
    if unknown := [name for name in wanted if name not in known]:
        near = [spec.name for spec in _fitting(later, " ".join(unknown))] or list(known)[:FOUND]
        return ToolOutput(
            Status.ERROR, f"Error: no deferred tool is called {', '.join(unknown)}. Near it: {', '.join(near)}."
        )
    chosen = dict.fromkeys([*wanted, *(spec.name for spec in _fitting(later, query))])
    if not chosen:
        said = f"no deferred tool fits {query!r}" if query.strip() else "neither names nor a query"
        return ToolOutput(Status.ERROR, f"Error: {said}; the description of {TOOL_SEARCH} lists the tools there are.")
    lines = "\n".join(_line(known[name]) for name in chosen)
    return ToolOutput(Status.OK, f"Loaded; they can be called from the next turn on:\n{lines}", {LOADED: list(chosen)})


def _fitting(later: Sequence[ToolSpec], query: str) -> list[ToolSpec]:
    """The tools that most words of the query are found in; a word in the name weighs as much as three in the text."""
    words = set(re.findall(r"\w+", query.lower().replace("_", " ")))
    scores = {spec.name: sum(_weight(spec, word) for word in words) for spec in later}
    best = sorted((spec for spec in later if scores[spec.name]), key=lambda spec: -scores[spec.name])
    return best[:FOUND]


def _weight(spec: ToolSpec, word: str) -> int:
    return 3 * (word in spec.name.lower()) + (word in spec.description.lower())
