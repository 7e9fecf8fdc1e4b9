"""What a run gave to other agents, and what came of it."""

import attrs

from states.contract import Isolation
from states.messages import Usage
from states.names import State


@attrs.frozen
class Delegated:
    """A call begins an agent in a session of its own. `intent` is the call's intent.

    Committed before the agent's own first record, so no agent works of which its caller's journal knows nothing.
    """

    intent: int
    session: str
    agent: str
    prompt: str
    background: bool = False
    isolation: Isolation = Isolation.NONE
    """What goes on after a crash goes on in the same place: the worktree is named after the session."""


@attrs.frozen
class DelegationEnded:
    """An agent's run has ended, or rests, and its caller knows. `usage` is all that it has used up, its agents' too.

    `changed` are files that it changed, or may have; `commands` what it ran in a shell.
    """

    session: str
    state: State
    reason: str
    usage: Usage = Usage()
    cost: float = 0.0
    """US dollars, as far as prices were known."""
    changed: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
