"""How hooks hear of a run that is about to end, and what commands mean by what they answer then.

As Claude Code does it: exit status 2 refuses, with the reason on standard error; so do `{"decision": "block", "reason":
"..."}` and words for the model (`additionalContext`). `{"continue": false}` overrides a block: the run may end.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from states.contract import Permission
from states.history import History
from states.records import JSON
from states.stopping import STOP_ALLOWED

from .asking import Terms
from .conventions import BLOCKED, Misunderstood, own_part, spoken
from .hook import Ending, Leave, Refusal, Stop, SubagentStop

MODES: Final[Mapping[str, str]] = {
    Permission.FULL: "bypassPermissions",
    Permission.ASK: "default",
    Permission.PLAN: "plan",
}
"""Our permissions by the names that such hooks know."""


def ending(history: History) -> Ending:
    """The run that is about to end, from committed facts alone."""
    started, active = history.started, history.retries[STOP_ALLOWED] > 0
    below = started if started is not None and started.parent else None
    caller = below.parent.rpartition(":")[0] if below else ""
    agent = (below.agent or "agent") if below else ""
    return Ending(history.session, history.answer, active, history.permission, agent, caller)


def terms_of(end: Ending, directory: str, hidden: tuple[str, ...]) -> Terms[Ending, Refusal | Leave]:
    return Terms(end, written(end, directory), understood, (Refusal, Leave), directory, hidden)


def written(end: Ending, directory: str) -> bytes:
    """What a command reads on its standard input."""
    said: dict[str, JSON] = {
        "session_id": end.caller or end.session,
        "transcript_path": "",
        "cwd": directory,
        "permission_mode": MODES.get(end.permission, end.permission),
        "hook_event_name": (SubagentStop if end.agent else Stop).__name__,
        "stop_hook_active": end.active,
        "last_assistant_message": end.text,
    }
    if end.agent:
        said |= {"agent_id": end.session, "agent_type": end.agent, "agent_transcript_path": ""}
    return orjson.dumps(said)


def understood(status: int, printed: str, complained: str) -> Refusal | Leave | None:
    """What a command meant. Raises Misunderstood where it failed, gave no reason, or cannot be understood."""
    if status == BLOCKED:
        return _refusal(complained)
    said = spoken(status, printed, complained)
    if said.get("continue") is False:
        return Leave(str(said.get("stopReason") or ""))
    if said.get("decision") == "block":
        return _refusal(said.get("reason"))
    words = own_part(said).get("additionalContext")
    return _refusal(words) if words else None


def _refusal(reason: Any) -> Refusal:
    if not isinstance(reason, str) or not reason.strip():
        raise Misunderstood("it refuses and gives no reason, so it has no vote")
    return Refusal(reason.strip())
