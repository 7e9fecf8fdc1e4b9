"""The tools of a run, by name: checked when they are gathered, and again at every call."""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import attrs
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from states.errors import ConfigError
from states.ports import ToolOutput, ToolRun, ToolSpec
from states.records import JSON, Status

from .complaints import complain
from .decorate import Tool
from .injected import as_given, resolve
from .source import Member, Source
from .texts import FORMATS

_log: Final = logging.getLogger("fsm.tools")


class Tools:
    """A `Toolbox` of tools made with `@tool`.

    context: the object, or the tuple of objects, that parameters annotated `Injected[...]` take by their type.
    workspace: the folder that tools find in their `ToolContext`.
    sources: places that have further tools, such as MCP servers; they stand behind the others, in the given order.

    Raises ConfigError for two tools of one name, a schema that is none, something that is no tool, or a dependency that
    is not in the context.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        context: object = None,
        workspace: Path | None = None,
        sources: Iterable[Source] = (),
    ) -> None:
        self._own: dict[str, Tool] = {}
        self._sources = tuple(sources)
        self._context = context
        given = as_given(context)
        for tool in tools:
            if not isinstance(tool, Tool):
                raise ConfigError(f"{tool!r} is no tool: decorate it with @tool")
            if tool.spec.name in self._own:
                raise ConfigError(f"two tools are called {tool.spec.name!r}: rename one with @tool(name=...)")
            injected = resolve(tool.signature.needs, given)
            self._own[tool.spec.name] = attrs.evolve(tool, injected=injected, workspace=workspace)
        self._own_validators = {name: _validator(tool.spec, FORMATS) for name, tool in self._own.items()}
        self._gather()

    def elsewhere(self, workspace: Path) -> "Tools":
        """The same tools for another workspace: those that are bound to one, and the one that others are told of."""
        there = [tool.elsewhere(workspace) if tool.elsewhere else tool for tool in self._own.values()]
        return Tools(there, context=self._context, workspace=workspace, sources=self._sources)

    def _gather(self) -> None:
        """All tools as they are now. One of a source that cannot be offered is left out, and the log says why."""
        self._tools: dict[str, Member] = dict(self._own)
        self._validators: dict[str, Validator] = dict(self._own_validators)
        for member in (member for source in self._sources for member in source.tools):
            name = member.spec.name
            if name in self._tools:
                _log.warning("left out: a second tool called %r", name)
                continue
            try:
                self._validators[name] = _validator(member.spec, None)
            except ConfigError as error:
                _log.warning("left out: %s", error)
            else:
                self._tools[name] = member
        self._specs = tuple(member.spec for member in self._tools.values())

    @property
    def secrets(self) -> Sequence[str]:
        """Strings that must never be stored or shown."""
        return tuple(secret for source in self._sources for secret in source.secrets)

    async def open(self) -> None:
        """Connect the sources. Raises ConfigError, naming the one that cannot be used."""
        if any([await source.open() for source in self._sources]):
            self._gather()

    async def refresh(self) -> None:
        """Take up what sources say has changed. Called before each provider turn."""
        if any([await source.refresh() for source in self._sources]):
            self._gather()

    async def close(self) -> None:
        for source in self._sources:
            await source.close()

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    def spec(self, name: str) -> ToolSpec | None:
        tool = self._tools.get(name)
        return tool.spec if tool else None

    def complaint(self, name: str, arguments: JSON) -> str | None:
        if name not in self._tools:
            return f"there is no tool {name!r}; the tools are {', '.join(self._tools) or 'none at all'}."
        try:
            said = complain(self._validators[name].iter_errors(arguments))
        except Unresolvable as error:
            return f"the schema of {name} refers to something that is not in it ({error})."
        except RecursionError:
            return f"the arguments of {name} are nested too deeply."
        return said and f"the arguments do not fit {name}: {said}"

    async def run(self, run: ToolRun) -> ToolOutput:
        complaint = self.complaint(run.name, dict(run.arguments))
        if complaint is not None:
            return ToolOutput(Status.ERROR, f"Error: {complaint} Not started.")
        return await self._tools[run.name].run(run)

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        tool = self._tools.get(run.name)
        if tool is None:
            return ToolOutput(Status.UNKNOWN, f"Unknown: the tool {run.name!r} is not there any more to be asked.")
        return await tool.reconcile(run)

    async def leave(self, session: str) -> None:
        """End what tools of this session left running; called when its run ends or rests."""
        for tool in self._tools.values():
            if tool.leave is not None:
                await tool.leave(session)


def _validator(spec: ToolSpec, formats: FormatChecker | None) -> Validator:
    schema = dict(spec.parameters)
    cls = validator_for(schema, default=Draft202012Validator)
    try:
        cls.check_schema(schema)
    except SchemaError as error:
        raise ConfigError(f"tool {spec.name!r}: its parameters are no JSON Schema: {error.message}") from error
    if schema.get("type") != "object":
        raise ConfigError(f"tool {spec.name!r}: its parameters must be a JSON Schema with type 'object'")
    return cls(schema, registry=Registry(), format_checker=formats)  # an own registry: nothing is ever fetched
