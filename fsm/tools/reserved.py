"""The tools of a run that owes a structured output: the caller's, and the reserved one that hands it in.

It has no effect outside: what it takes is checked before it starts, and what it took is committed with its result.
"""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from gates.output_schema import LARGEST_OUTPUT, validator_of
from states.deferred import TOOL_SEARCH
from states.errors import ConfigError
from states.output import STRUCTURED_OUTPUT
from states.ports import Toolbox, ToolOutput, ToolRun, ToolSpec
from states.records import JSON, Status

from .complaints import complain
from .returned import describe
from .structure import structure

DESCRIPTION: Final = (
    "Hand in the result of the whole task. Call it exactly once, when all other work is done and its results are "
    "known. Only what is handed in here counts: JSON in a message does not."
)
ACCEPTED: Final = "Accepted. This is the run's result, unless you are told something new or the workspace changes."

_RESERVED: Final = {
    STRUCTURED_OUTPUT: "and ask for an output with Loop(output=...)",
    TOOL_SEARCH: "and defer tools with @tool(deferred=True) or Loop(defer=[...])",
}


class WithOutput:
    """A `Toolbox` that also takes the run's output, held to `schema` (JSON) and to what the class `cls` takes."""

    def __init__(self, tools: Toolbox, schema: str, cls: Any = None) -> None:
        self._tools = tools
        self._schema = schema
        self._cls = cls
        self._spec = ToolSpec(STRUCTURED_OUTPUT, DESCRIPTION, orjson.loads(schema), read_only=True)

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return (*self._tools.specs, self._spec)

    def spec(self, name: str) -> ToolSpec | None:
        return self._spec if name == STRUCTURED_OUTPUT else self._tools.spec(name)

    def complaint(self, name: str, arguments: JSON) -> str | None:
        if name != STRUCTURED_OUTPUT:
            return self._tools.complaint(name, arguments)
        size = len(orjson.dumps(arguments))
        if size > LARGEST_OUTPUT:
            return f"the output has {size} bytes, at most {LARGEST_OUTPUT} are taken; leave out what nobody needs."
        try:
            said = complain(validator_of(self._schema).iter_errors(arguments))
        except RecursionError:
            return "the output is nested too deeply."
        if said is not None:
            return f"the output does not fit its schema: {said}"
        return None if self._cls is None else self._refused(arguments)

    def _refused(self, arguments: JSON) -> str | None:
        """What the class itself says: a converter, or a validator of one of its fields."""
        try:
            structure(arguments, self._cls)
        except Exception as error:  # noqa: BLE001  a class may refuse a value in any way it likes
            return f"the output was not taken: {describe(error)}."
        return None

    async def run(self, run: ToolRun) -> ToolOutput:
        if run.name != STRUCTURED_OUTPUT:
            return await self._tools.run(run)
        return ToolOutput(Status.OK, ACCEPTED)

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        return None if run.name == STRUCTURED_OUTPUT else await self._tools.reconcile(run)


def refuse_reserved(tools: Toolbox) -> Toolbox:
    """The same tools. Raises ConfigError if one has a reserved name."""
    for name, way in _RESERVED.items():
        if tools.spec(name) is not None:
            raise ConfigError(
                f"a tool is called {name!r}, which is the name of Interlock's own; rename yours "
                f"(@tool(name=...)), {way}"
            )
    return tools
