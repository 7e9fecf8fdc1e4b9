"""Asks hooks, one after the other, and turns what they answer into records and results."""

import asyncio
import inspect
import time
from collections.abc import Iterable
from pathlib import Path

import attrs

from states.dispatch_tools import canonical
from states.ports import ToolOutput, ToolRun
from states.records import JSON, HookOutcome, HookResult, Status

from .command import SHOWN, run_command
from .conventions import NAMES, Misunderstood, answer, question
from .hook import Hook, PostToolUse, PreToolUse, ToolAnswer, ToolUse


@attrs.frozen(eq=False)
class HookRunner:
    """Implements `states.ports.Hooks`. Commands run in `directory`, without the variables in `hidden`."""

    hooks: tuple[Hook, ...] = ()
    directory: str = attrs.field(factory=lambda: str(Path.cwd()))
    hidden: tuple[str, ...] = ()

    def watches(self, name: str) -> bool:
        return any(self._of(PreToolUse, name))

    def _of(self, kind: type[Hook], name: str) -> Iterable[Hook]:
        names = (name, NAMES.get(name, name))
        return (hook for hook in self.hooks if isinstance(hook, kind) and hook.fits(*names))

    async def before(self, session: str, call: str, name: str, arguments: dict[str, JSON]) -> tuple[HookResult, ...]:
        """In their order; each sees what the ones before it made of the call. The first that denies is the last asked.

        A hook that fails or takes too long has no vote; that is on record.
        """
        use, results = ToolUse(session, call, name, arguments), list[HookResult]()
        for hook in self._of(PreToolUse, name):
            since = time.monotonic()
            said = await self._asked(hook, use)
            record = _record(hook, use, said)
            if isinstance(said, ToolAnswer) and said.arguments is not None and record.outcome is HookOutcome.CHANGED:
                use = attrs.evolve(use, arguments=dict(said.arguments))
            results.append(attrs.evolve(record, duration=round(time.monotonic() - since, 6)))
            if record.outcome is HookOutcome.DENIED:
                break
        return tuple(results)

    async def after(self, run: ToolRun, output: ToolOutput) -> ToolOutput:
        """The output as the hooks leave it. What each did stands in the metadata, under `hooks`."""
        if output.status not in (Status.OK, Status.ERROR):
            return output
        told: list[JSON] = []
        for hook in self._of(PostToolUse, run.name):
            session = run.key.rpartition(":")[0]
            failed = output.status is Status.ERROR
            said = await self._asked(hook, ToolUse(session, run.key, run.name, run.arguments, output.text, failed))
            output, did = _applied(output, said)
            told.append({"event": "PostToolUse", "hook": hook.name, "did": did})
        if not told:
            return output
        return attrs.evolve(output, metadata={**output.metadata, "hooks": told})

    async def _asked(self, hook: Hook, use: ToolUse) -> ToolAnswer | str:
        """Its answer, or why it has none."""
        try:
            async with asyncio.timeout(hook.timeout):
                return await self._answer(hook, use)
        except TimeoutError:
            return f"no answer within {hook.timeout:g} s"
        except Misunderstood as why:
            return str(why)
        except Exception as error:  # noqa: BLE001  a hook may fail in any way it likes
            return f"{type(error).__name__}: {error}"

    async def _answer(self, hook: Hook, use: ToolUse) -> ToolAnswer:
        if isinstance(hook.run, str):
            asked = question(type(hook), use, self.directory)
            status, printed, complained = await run_command(hook.run, asked, self.directory, self.hidden)
            return answer(type(hook), use, status, printed, complained)
        if inspect.iscoroutinefunction(hook.run):
            said = await hook.run(use)
        else:
            said = await asyncio.to_thread(hook.run, use)
            said = await said if inspect.isawaitable(said) else said
        if said is not None and not isinstance(said, ToolAnswer):
            raise Misunderstood(f"it returned {type(said).__name__}, not a ToolAnswer or None")
        return said or ToolAnswer()


def _record(hook: Hook, use: ToolUse, said: ToolAnswer | str) -> HookResult:
    done = HookResult(use.call, type(hook).__name__, hook.name, HookOutcome.PASSED)
    if isinstance(said, str):
        return attrs.evolve(done, outcome=HookOutcome.FAILED, said=said[:SHOWN])
    if said.deny:
        return attrs.evolve(done, outcome=HookOutcome.DENIED, said=said.deny[:SHOWN])
    changed = ""
    if said.arguments is not None:
        try:
            changed = canonical(dict(said.arguments))
        except (TypeError, ValueError) as error:
            return attrs.evolve(done, outcome=HookOutcome.FAILED, said=f"its arguments have no JSON form: {error}")
    if said.ask:
        return attrs.evolve(done, outcome=HookOutcome.ASKED, said=said.ask[:SHOWN], arguments=changed)
    return attrs.evolve(done, outcome=HookOutcome.CHANGED, arguments=changed) if changed else done


def _applied(output: ToolOutput, said: ToolAnswer | str) -> tuple[ToolOutput, str]:
    if isinstance(said, str):
        return output, f"failed: {said[:SHOWN]}"
    did: list[str] = []
    if said.output is not None:
        output, did = attrs.evolve(output, text=said.output), [*did, "replaced"]
    if said.add:
        output, did = attrs.evolve(output, text=f"{output.text}\n{said.add[:SHOWN]}".lstrip("\n")), [*did, "added"]
    if said.error:
        text = f"{output.text}\n[hook] {said.error[:SHOWN]}".lstrip("\n")
        output, did = attrs.evolve(output, text=text, status=Status.ERROR), [*did, "error"]
    return output, ", ".join(did) or "passed"
