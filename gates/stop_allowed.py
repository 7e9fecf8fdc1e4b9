"""stop_allowed: no stop hook of the host refuses to let the run end with this candidate.

Only an explicit refusal with its reason counts. A hook that fails, or takes too long, has no vote; that is on record.
"""

from typing import Final

import attrs

from states.history import History
from states.records import HookOutcome, HookResult, Record
from states.stopping import STOP_ALLOWED
from states.verdicts import Pass, Retry, Ruling, Suspend, WaitsFor

from .gate import Gate, OpenOutside

REFUSALS: Final = 8
"""Refusals in a row that send the run back (Claude Code's limit); it ends the turn then, and we let a person decide."""


class StopAllowed(Gate):
    name = STOP_ALLOWED
    may = (Retry, Suspend)

    async def gather(self, history: History, outside: OpenOutside) -> tuple[Record, ...]:
        """Ask the hooks once for each candidate; their answers are durable before anything else is looked at.

        If the process is lost before that, they are asked again.
        """
        if history.stop_hooks:
            return ()
        world = await outside()
        answers = await world.hooks.stopping(history)
        if answers and world.workspace is not None:
            now = await world.workspace.revision()
            answers = tuple(attrs.evolve(said, revision=now) for said in answers)
        if answers:
            await outside(*answers)
        return ()

    def judge(self, history: History) -> Ruling:
        refusal = refusal_of(history)
        if refusal is None:
            return Pass(cites=tuple(seq for seq, _ in history.stop_hooks))
        if history.retries[self.name] >= REFUSALS:
            return Suspend(
                WaitsFor.ANSWER,
                f"a stop hook has refused {REFUSALS + 1} times in a row. The last time, {refusal.hook!r} said: "
                f"{refusal.said}\nSay how to go on.",
            )
        message = f"You may not stop yet. A hook of the host says:\n{refusal.said}"
        return Retry(f"the stop hook {refusal.hook!r} refuses", message)


def refusal_of(history: History) -> HookResult | None:
    """The refusal of this candidate's stop, if there is one."""
    return next((said for _, said in history.stop_hooks if said.outcome is HookOutcome.DENIED), None)


stop_allowed: Final = StopAllowed()
