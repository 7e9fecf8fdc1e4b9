"""`@tool`: makes a tool of a typed function.

Synchronous functions run in a thread. A thread cannot be cancelled: when the run is stopped, such a tool is awaited
for some seconds, and what it returns counts. One that takes long asks for a `ToolContext` and looks at `cancelled`; one
that does not stop in time is left behind, and the model is told that it may still be running.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, overload

import attrs

from states.await_results import STOPPED
from states.errors import ConfigError
from states.ports import ToolOutput, ToolRun, ToolSpec
from states.records import JSON, Status

from .calling import Manners, Reading, in_loop, settle
from .context import Shown, ToolContext, ToolError, relay
from .docstring import said_by
from .patience import GRACE, Patience, Watch
from .promise import promised
from .returned import describe, error_of, json_output_of, output_of
from .signature import Signature, signature_of

Function = Callable[..., Any]
Reads = Callable[[Mapping[str, JSON]], bool]
Reconciler = Callable[[ToolRun], Any]
Leave = Callable[[str], Awaitable[None]]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What both the OpenAI and the Anthropic API take as a tool's name."""


ABANDONED: Final = (
    "Unknown: it was told to stop and did not. It was left behind, and may still be running and finish what it began. "
    "Look at the state of things before you repeat it."
)

REMAINS: Final = "What it did until then remains."

_log: Final = logging.getLogger("fsm.tools")
_log.addHandler(logging.NullHandler())  # a traceback is for whoever configures logging, not for the terminal


@attrs.frozen(eq=False)
class Tool:
    """A function that the model may call. Calling the object calls the function, as if it were undecorated.

    `injected` and `workspace` are what its toolbox gives it. `leave` is awaited with a session's name when its run ends
    or rests: what the tool started for it and left running has to end.
    `elsewhere` gives the same tool for another workspace, if it is bound to one.
    """

    spec: ToolSpec
    function: Function
    signature: Signature = attrs.field(repr=False)
    reconciler: Reconciler | None = None
    patience: Patience = attrs.field(factory=Patience)
    injected: Mapping[str, object] = attrs.field(factory=dict, repr=False)
    workspace: Path | None = None
    leave: Leave | None = attrs.field(default=None, repr=False)
    elsewhere: "Callable[[Path], Tool] | None" = attrs.field(default=None, repr=False)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.function(*args, **kwargs)

    async def run(self, run: ToolRun) -> ToolOutput:
        """Run it with arguments that fit the schema. Its own faults are outputs with status ERROR."""
        watch = Watch(self.patience)
        shown = Shown(run.progress, watch.heard)
        show = shown if in_loop(self.function) else relay(shown, asyncio.get_running_loop())
        context = ToolContext(run.key, show, self.workspace, run.caller)
        try:
            arguments = self.signature.bind(run.arguments, context, self.injected)
        except ToolError as error:  # a class may refuse a value in any way it likes
            return ToolOutput(Status.ERROR, f"Error: the arguments were not taken: {error}. Not started.")
        reading = Reading(self._read, partial(_fault, self.spec.name), lambda: _abandoned(shown))
        manners = Manners(context.cancel, self.patience.grace, lambda item: context.progress(output_of(item).text))
        try:
            async with watch.limit:
                return await settle(partial(self.function, **arguments), reading, manners)
        except TimeoutError:
            return ToolOutput(Status.ERROR, _with_lines(f"Error: stopped: {self.patience.words}. {REMAINS}", shown))
        except asyncio.CancelledError:
            if not shown.lines:
                raise
            return ToolOutput(Status.CANCELLED, _with_lines(STOPPED, shown))
        finally:
            shown.close()

    def _read(self, value: object) -> ToolOutput:
        return output_of(value) if self.spec.returns is None else json_output_of(value)

    async def reconcile(self, run: ToolRun) -> ToolOutput | None:
        """What the tool's own check says about an earlier start; UNKNOWN if there is none, or if it fails itself."""
        if self.reconciler is None:
            return ToolOutput(Status.UNKNOWN, f"Unknown: {self.spec.name} cannot tell whether the call happened.")
        check = Reading[ToolOutput | None](self._found, _unchecked, _unfinished)
        return await settle(partial(self.reconciler, run), check, Manners(grace=self.patience.grace))

    def _found(self, value: object) -> ToolOutput | None:
        return None if value is None else self._read(value)


def _fault(name: str, error: BaseException) -> ToolOutput:
    if not isinstance(error, ToolError):
        _log.warning("tool %s raised", name, exc_info=error)
    return error_of(error)


def _abandoned(shown: Shown) -> ToolOutput:
    return ToolOutput(Status.UNKNOWN, _with_lines(ABANDONED, shown))


def _with_lines(said: str, shown: Shown) -> str:
    return "\n".join([said, "Until then it had shown:", *shown.lines]) if shown.lines else said


def _unchecked(error: BaseException) -> ToolOutput:
    return ToolOutput(Status.UNKNOWN, f"Unknown: whether the call happened could not be checked. {describe(error)}")


def _unfinished() -> ToolOutput:
    return ToolOutput(Status.UNKNOWN, "Unknown: whether the call happened could not be checked in time.")


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    read_only: bool | Reads = False,
    concurrency_safe: bool = False,
    idempotent: bool = False,
    reconcile: Reconciler | None = None,
    grace: float = GRACE,
    quiet: float | None = None,
    total: float | None = None,
    delegates: bool = False,
    deferred: bool = False,
    returns: object = None,
) -> Callable[[Function], Tool]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    read_only: bool | Reads = False,
    concurrency_safe: bool = False,
    idempotent: bool = False,
    reconcile: Reconciler | None = None,
    grace: float = GRACE,
    quiet: float | None = None,
    total: float | None = None,
    delegates: bool = False,
    deferred: bool = False,
    returns: object = None,
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function; every promise is explicit, none follows from another.

    `read_only`: running it changes nothing; or a function that tells of its arguments (a dict that fits the schema)
    whether this call changes nothing. `concurrency_safe`: it may run beside others of its turn (a read-only tool
    may still need the line for itself). `idempotent`: running it again with the same key has the effect of running it
    once. `reconcile`: gets the `ToolRun` of a lost start and returns what the tool would have returned, None if it
    certainly did not happen, or a ToolOutput with status UNKNOWN. `quiet`, `total`: seconds without
    progress, and in all, after which it is stopped (by default it may take any time). `grace`: seconds that a
    synchronous function then gets to stop, and when the run is cancelled. `delegates`: what it does is done by runs of
    their own, which ask for approvals themselves. `deferred`: its schema is sent only once the model has loaded
    it with `tool_search`. `returns`: "json", a JSON Schema or a type that its results fit: what
    does not, such as a text that is no JSON, is an error result; "text" promises nothing. Without it, a function whose
    return annotation no text fits (`-> list[Room]`, `-> int`) promises JSON. `name` and `description` default to the
    function's name and its docstring.

    The schema comes from the annotations, descriptions from `Annotated[T, "..."]` or the docstring (Google, NumPy, reST
    or Epydoc style); `Keywords` in `Annotated` adds to it. `ToolContext` and `Injected[T]` are not the model's to give.
    What a generator yields is shown as it comes, and what it yields last is the result (or what it returns).
    Raises ConfigError for a declaration that a model cannot be told about.
    """
    if function is None:
        return partial(
            _declare,
            name=name,
            description=description,
            promises={"read_only": read_only is True, "concurrency_safe": concurrency_safe, "idempotent": idempotent}
            | {"delegates": delegates, "deferred": deferred},
            reconcile=reconcile,
            patience=Patience(grace, quiet, total),
            reads=read_only if callable(read_only) else None,
            returns=returns,
        )
    return _declare(function, name=name, description=description, promises={}, reconcile=reconcile, patience=Patience())


def _declare(
    function: Function,
    *,
    name: str | None,
    description: str | None,
    promises: dict[str, bool],
    reconcile: Reconciler | None,
    patience: Patience,
    reads: Reads | None = None,
    returns: object = None,
) -> Tool:
    name = name or str(getattr(function, "__name__", type(function).__name__))
    if not _NAME.fullmatch(name):
        raise ConfigError(f"tool {name!r}: a name has 1 to 64 letters, digits, '_' or '-'; give another with name=...")
    patience.check(name)
    documented = said_by(function)
    signature = signature_of(function, name, documented)
    said = documented.description if description is None else description
    spec = ToolSpec(
        name,
        said,
        signature.schema,
        **promises,
        reconcilable=reconcile is not None,
        returns=promised(returns, signature.returns, f"tool {name!r}"),
        reads=reads,
    )
    return Tool(spec, function, signature, reconcile, patience)
