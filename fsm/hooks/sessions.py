"""Hooks about what a person says, and about a session's begin and end, as Claude Code has them.

A hook for UserPromptSubmit that exits with 2, or says `{"decision": "block", "reason": "..."}`, refuses the words: they
reach nobody. What it prints otherwise, or `additionalContext`, is told to the model with them; so is what a hook for
SessionStart prints. A hook for SessionEnd is only told. What each answered is on record.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

import attrs
import orjson

from states.errors import ConfigError
from states.records import HookOutcome, HookResult

from .asking import Terms, answer_of
from .command import SHOWN
from .conventions import BLOCKED, Misunderstood, own_part, spoken
from .hook import Hook, SessionEnd, SessionMoment, SessionStart, UserPromptSubmit, Words

Spoken = UserPromptSubmit | SessionStart | SessionEnd
OPEN: Final = "<hook-context>"
CLOSE: Final = "</hook-context>"


class PromptRefused(ConfigError):
    """A hook does not let these words pass; nothing of them is kept."""


@attrs.frozen
class SessionHooks:
    """Commands run in `directory`, without the variables in `hidden`."""

    hooks: tuple[Hook, ...] = ()
    directory: str = ""
    hidden: tuple[str, ...] = ()

    async def started(self, session: str, *, fresh: bool) -> tuple[HookResult, ...]:
        """What hooks say when a process takes a session up. fresh: it is a new one."""
        source = "startup" if fresh else "resume"
        return await self._all(SessionStart, SessionMoment(session, source), {"source": source}, source)

    async def prompted(self, session: str, prompt: str) -> tuple[HookResult, ...]:
        """What hooks say to words of a person. Raises PromptRefused, naming the hook and its reason."""
        results = await self._all(UserPromptSubmit, SessionMoment(session, prompt), {"prompt": prompt}, "")
        for result in results:
            if result.outcome is HookOutcome.DENIED:
                raise PromptRefused(f"the hook {result.hook} does not let this pass: {result.said}")
        return results

    async def ended(self, session: str, reason: str) -> tuple[HookResult, ...]:
        """Tell hooks that nobody works on the session any more. reason: that of the run's result."""
        return await self._all(SessionEnd, SessionMoment(session, reason), {"reason": reason}, reason)

    async def _all(
        self, kind: type[Spoken], moment: SessionMoment, more: dict[str, str], matched: str
    ) -> tuple[HookResult, ...]:
        """In their order, up to the first that refuses. One that fails has no vote."""
        results: list[HookResult] = []
        said = {
            "session_id": moment.session,
            "transcript_path": "",
            "cwd": self.directory,
            "hook_event_name": kind.__name__,
            **more,
        }
        terms = Terms(moment, orjson.dumps(said), _understood(kind), (Words,), self.directory, self.hidden)
        for hook in self.hooks:
            if not isinstance(hook, kind) or (matched and not hook.fits(matched)):
                continue
            since = time.monotonic()
            result = _record(kind, hook.name, await answer_of(hook, terms))
            results.append(attrs.evolve(result, duration=round(time.monotonic() - since, 6)))
            if result.outcome is HookOutcome.DENIED:
                break
        return tuple(results)


def _record(kind: type[Spoken], name: str, answer: Words | str | None) -> HookResult:
    done = HookResult("", kind.__name__, name, HookOutcome.PASSED)
    if isinstance(answer, str):
        return attrs.evolve(done, outcome=HookOutcome.FAILED, said=answer[:SHOWN])
    if answer is None or kind is SessionEnd:
        return done
    if answer.deny and kind is UserPromptSubmit:
        return attrs.evolve(done, outcome=HookOutcome.DENIED, said=answer.deny[:SHOWN])
    return attrs.evolve(done, said=answer.add.strip()[:SHOWN])


def _understood(kind: type[Spoken]) -> Callable[[int, str, str], Words | None]:
    def understood(status: int, printed: str, complained: str) -> Words | None:
        if status == BLOCKED:
            if kind is not UserPromptSubmit:
                raise Misunderstood(f"exit status {status}: {complained.strip()[:300]}")
            return Words(deny=complained.strip() or "it gave no reason")
        said = spoken(status, printed, complained)
        if said.get("decision") == "block" or said.get("continue") is False:
            return Words(deny=str(said.get("reason") or said.get("stopReason") or "it gave no reason"))
        if said:
            return Words(add=str(own_part(said).get("additionalContext") or ""))
        return Words(add=printed)

    return understood


def told_by(results: Sequence[HookResult]) -> str:
    """What hooks have to tell the model, as a marked block; empty if nothing."""
    words = [result.said for result in results if result.outcome is HookOutcome.PASSED and result.said]
    return "\n".join([OPEN, *words, CLOSE]) if words else ""
