"""What a run can be, what it leaves behind, and what is done while it is there.

Nouns: imports nothing of `gates` or `fsm`. States know nothing of where they lead.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from . import await_results, candidate_final, dispatch_tools, finalize, provider_turn, stop_hook, verify
from .names import State
from .ports import Outcome, Run

INTERLOCK: Final = True
"""Marks this package as Interlock's own: `fsm` checks it before it believes an import."""

ACTIVITIES: Final[Mapping[State, Callable[[Run], Awaitable[Outcome]]]] = {
    State.PROVIDER_TURN: provider_turn.act,
    State.DISPATCH_TOOLS: dispatch_tools.act,
    State.AWAIT_RESULTS: await_results.act,
    State.CANDIDATE_FINAL: candidate_final.act,
    State.VERIFY: verify.act,
    State.STOP_HOOK: stop_hook.act,
    State.FINALIZE: finalize.act,
}
"""What is done in each running state."""
