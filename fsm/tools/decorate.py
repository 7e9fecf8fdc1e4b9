"""`@tool`: makes a tool of a typed function.

Synchronous functions run in a thread. A thread cannot be cancelled: when the run is stopped, such a tool is awaited
to its end, and what it returns counts. One that takes long asks for a `ToolContext` and looks at `cancelled`.
"""

import asyncio
import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, overload

import attrs

from states.errors import ConfigError
from states.ports import ToolOutput, ToolRun, ToolSpec
from states.records import Status

from .calling import Reading, settle
from .context import ToolContext, relay
from .docstring import description_of
from .returned import describe, error_of, output_of
from .signature import Signature, signature_of

Function = Callable[..., Any]
Reconciler = Callable[[ToolRun], Any]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What both the OpenAI and the Anthropic API take as a tool's name."""


@attrs.frozen(eq=False)
class Tool:
    """A function that the model may call. Calling the object calls the function, as if it were undecorated."""

    spec: ToolSpec
    function: Function
    signature: Signature = attrs.field(repr=False)
    reconciler: Reconciler | None = None

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.function(*args, **kwargs)

    async def run(self, run: ToolRun) -> ToolOutput:
        """Run it with arguments that fit the schema. Its own faults are outputs with status ERROR."""
        threaded = not inspect.iscoroutinefunction(self.function)
        show = relay(run.progress, asyncio.get_running_loop()) if threaded else run.progress
        context = ToolContext(run.key, show)
        try:
            arguments = self.signature.bind(run.arguments, context)
        except Exception as error:  # noqa: BLE001  # a class may refuse a value in any way it likes
            return ToolOutput(Status.ERROR, f"Error: the arguments were not taken: {describe(error)}. Not started.")
        return await settle(partial(self.function, **arguments), _RUN, context.cancel)

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        """What the tool's own check says about an earlier start; UNKNOWN if there is none, or if it fails itself."""
        if self.reconciler is None:
            return ToolOutput(Status.UNKNOWN, f"Unknown: {self.spec.name} cannot tell whether the call happened.")
        return await settle(partial(self.reconciler, run), _CHECK, lambda: None)


def _unchecked(error: BaseException) -> ToolOutput:
    return ToolOutput(Status.UNKNOWN, f"Unknown: whether the call happened could not be checked. {describe(error)}")


def _found(value: object) -> ToolOutput | None:
    return None if value is None else output_of(value)


_RUN: Final = Reading(output_of, error_of)
_CHECK: Final = Reading[ToolOutput | None](_found, _unchecked)


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    read_only: bool = False,
    concurrency_safe: bool = False,
    idempotent: bool = False,
    reconcile: Reconciler | None = None,
) -> Callable[[Function], Tool]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    read_only: bool = False,
    concurrency_safe: bool = False,
    idempotent: bool = False,
    reconcile: Reconciler | None = None,
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function; every promise is explicit, none follows from another.

    `read_only`: running it changes nothing. `concurrency_safe`: it may run beside others of its turn (a read-only tool
    may still need the line for itself). `idempotent`: running it again with the same key has the effect of running it
    once. `reconcile`: gets the `ToolRun` of a lost start and returns what the tool would have returned, None if it
    certainly did not happen, or a ToolOutput with status UNKNOWN. `name` and `description` default to the function's
    name and the first paragraph of its docstring.

    The schema comes from the annotations, descriptions from `Annotated[T, "..."]` or an `Args:` section; `Keywords` in
    `Annotated` adds to it. Raises ConfigError for a declaration that a model cannot be told about.
    """
    if function is None:
        return partial(
            _declare,
            name=name,
            description=description,
            promises={"read_only": read_only, "concurrency_safe": concurrency_safe, "idempotent": idempotent},
            reconcile=reconcile,
        )
    return _declare(function, name=name, description=description, promises={}, reconcile=reconcile)


def _declare(
    function: Function,
    *,
    name: str | None,
    description: str | None,
    promises: dict[str, bool],
    reconcile: Reconciler | None,
) -> Tool:
    name = name or str(getattr(function, "__name__", type(function).__name__))
    if not _NAME.fullmatch(name):
        raise ConfigError(f"tool {name!r}: a name has 1 to 64 letters, digits, '_' or '-'; give another with name=...")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigError(f"tool {name!r}: a generator has no one result; return it, and show lines with progress()")
    signature = signature_of(function, name)
    said = description_of(function) if description is None else description
    spec = ToolSpec(name, said, signature.schema, **promises, reconcilable=reconcile is not None)
    return Tool(spec, function, signature, reconcile)
