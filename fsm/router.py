"""A call from its start to what the model reads: it runs, its promise of JSON is held, hooks hear of it, limits.

What comes before the start (filter, validation, permission, hooks that may deny it) is in `states.dispatch_tools`.
"""

from pathlib import Path

from states.ports import Hooks, Toolbox, ToolOutput, ToolRun
from states.records import Status

from .tools.limits import limited
from .tools.promise import held


async def call(run: ToolRun, tools: Toolbox, hooks: Hooks, outputs: Path | None) -> ToolOutput:
    """Run it. `outputs` takes the whole of texts that are too long. Raises nothing, a cancellation aside."""
    output = await hooks.after(run, held(tools.spec(run.name), await _run(run, tools)))
    return limited(output, run.key, outputs)


async def recall(run: ToolRun, tools: Toolbox, outputs: Path | None) -> ToolOutput | None:
    """What became of an earlier start, as `Toolbox.reconcile` says it. Raises what that raises."""
    found = await tools.reconcile(run)
    return found and limited(held(tools.spec(run.name), found), run.key, outputs)


async def _run(run: ToolRun, tools: Toolbox) -> ToolOutput:
    try:
        return await tools.run(run)
    except Exception as error:  # noqa: BLE001  a toolbox that breaks its promise must not leave a call unanswered
        return ToolOutput(Status.ERROR, f"Error: the tool broke off ({type(error).__name__}: {error}).")
