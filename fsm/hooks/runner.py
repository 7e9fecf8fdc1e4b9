"""Asks hooks, one after the other, and turns what they answer into records and results."""

import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import attrs

from states.dispatch_tools import canonical
from states.history import History
from states.ports import ToolOutput, ToolRun
from states.records import JSON, HookOutcome, HookResult, Status

from .asking import Terms, answer_of
from .command import SHOWN
from .conventions import NAMES, answer, question
from .hook import Ending, Hook, PostToolUse, PreToolUse, Refusal, Stop, SubagentStop, ToolAnswer, ToolUse
from .stops import ending, terms_of


@attrs.frozen(eq=False)
class HookRunner:
    """Implements `states.ports.Hooks`. Commands run in `directory`, without the variables in `hidden`."""

    hooks: tuple[Hook, ...] = ()
    directory: str = attrs.field(factory=lambda: str(Path.cwd()))
    hidden: tuple[str, ...] = ()

    def watches(self, name: str) -> bool:
        return any(hook.fits(*_names(name)) for hook in self.hooks if isinstance(hook, PreToolUse))

    async def before(self, session: str, call: str, name: str, arguments: dict[str, JSON]) -> tuple[HookResult, ...]:
        """In their order; each sees what the ones before it made of the call. The first that denies is the last asked.

        A hook that fails or takes too long has no vote; that is on record.
        """
        use, results = ToolUse(session, call, name, arguments), list[HookResult]()
        for hook in self.hooks:
            if not isinstance(hook, PreToolUse) or not hook.fits(*_names(name)):
                continue
            since = time.monotonic()
            said = await answer_of(hook, self._about(hook, use))
            record = _record(hook, use, said)
            if isinstance(said, ToolAnswer) and said.arguments is not None and record.outcome is HookOutcome.CHANGED:
                use = attrs.evolve(use, arguments=dict(said.arguments))
            results.append(attrs.evolve(record, duration=_since(since)))
            if record.outcome is HookOutcome.DENIED:
                break
        return tuple(results)

    async def after(self, run: ToolRun, output: ToolOutput) -> ToolOutput:
        """The output as the hooks leave it. What each did stands in the metadata, under `hooks`."""
        if output.status not in (Status.OK, Status.ERROR):
            return output
        told: list[JSON] = []
        for hook in self.hooks:
            if not isinstance(hook, PostToolUse) or not hook.fits(*_names(run.name)):
                continue
            session = run.key.rpartition(":")[0]
            failed = output.status is Status.ERROR
            use = ToolUse(session, run.key, run.name, run.arguments, output.text, failed)
            output, did = _applied(output, await answer_of(hook, self._about(hook, use)))
            told.append({"event": "PostToolUse", "hook": hook.name, "did": did})
        if not told:
            return output
        return attrs.evolve(output, metadata={**output.metadata, "hooks": told})

    async def stopping(self, history: History) -> tuple[HookResult, ...]:
        """In their order, up to the first that refuses, or lets it end whatever the others would say."""
        end, results = ending(history), list[HookResult]()
        for hook in self._watching(end):
            since = time.monotonic()
            said = await answer_of(hook, terms_of(end, self.directory, self.hidden))
            done = HookResult("", type(hook).__name__, hook.name, HookOutcome.PASSED, candidate=history.candidate)
            if isinstance(said, str):
                done = attrs.evolve(done, outcome=HookOutcome.FAILED, said=said[:SHOWN])
            elif said is not None:
                refuses = isinstance(said, Refusal)
                outcome = HookOutcome.DENIED if refuses else HookOutcome.PASSED
                done = attrs.evolve(done, outcome=outcome, said=said.reason[:SHOWN])
            results.append(attrs.evolve(done, duration=_since(since)))
            if not (said is None or isinstance(said, str)):
                break
        return tuple(results)

    def _watching(self, end: Ending) -> Iterable[Stop | SubagentStop]:
        if not end.agent:
            return (hook for hook in self.hooks if isinstance(hook, Stop))
        return (hook for hook in self.hooks if isinstance(hook, SubagentStop) and hook.fits(end.agent))

    def _about(self, hook: PreToolUse | PostToolUse, use: ToolUse) -> Terms[ToolUse, ToolAnswer]:
        kind = type(hook)
        asked = question(kind, use, self.directory)
        return Terms(use, asked, partial(answer, kind, use), (ToolAnswer,), self.directory, self.hidden)


def _names(name: str) -> Iterable[str]:
    return (name, NAMES.get(name, name))


def _since(moment: float) -> float:
    return round(time.monotonic() - moment, 6)


def _record(hook: PreToolUse, use: ToolUse, said: ToolAnswer | str | None) -> HookResult:
    done = HookResult(use.call, type(hook).__name__, hook.name, HookOutcome.PASSED)
    if said is None:
        return done
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


def _applied(output: ToolOutput, said: ToolAnswer | str | None) -> tuple[ToolOutput, str]:
    if isinstance(said, str):
        return output, f"failed: {said[:SHOWN]}"
    did: list[str] = []
    if said is None:
        return output, "passed"
    if said.output is not None:
        output, did = attrs.evolve(output, text=said.output), [*did, "replaced"]
    if said.add:
        output, did = attrs.evolve(output, text=f"{output.text}\n{said.add[:SHOWN]}".lstrip("\n")), [*did, "added"]
    if said.error:
        text = f"{output.text}\n[hook] {said.error[:SHOWN]}".lstrip("\n")
        output, did = attrs.evolve(output, text=text, status=Status.ERROR), [*did, "error"]
    return output, ", ".join(did) or "passed"
