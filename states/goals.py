"""How far a session's goal has come, and what shows that it is reached: pure functions of what is committed."""

import hashlib
from enum import StrEnum
from typing import Final

import orjson

from .history import History
from .names import State
from .records import Judgement
from .stopping import GOAL_MET
from .verdicts import WaitsFor

SHOWN: Final = 4_000
"""Characters of a verifier's report that the digest of the evidence covers (blade-code's number)."""


class GoalStatus(StrEnum):
    """How far a goal has come."""

    ACTIVE = "active"
    VERIFYING = "verifying"
    """A candidate is being judged."""
    PAUSED = "paused"
    """A person said so, or the run was cancelled or failed: nobody works on it."""
    BLOCKED = "blocked"
    """The run rests and waits for somebody."""
    BUDGET_LIMITED = "budget_limited"
    COMPLETE = "complete"


def goal_status(history: History) -> GoalStatus | None:
    """Of the session's goal; None if it has none."""
    goal, rest = history.goal, history.rest
    if goal is None:
        return None
    if goal.complete:
        return GoalStatus.COMPLETE
    if goal.paused or history.state in (State.FAILED, State.SUCCEEDED):
        return GoalStatus.PAUSED
    if history.state is State.SUSPENDED and rest is not None:
        return _AT_REST.get(rest.waits_for, GoalStatus.BLOCKED)
    return GoalStatus.VERIFYING if history.candidate else GoalStatus.ACTIVE


_AT_REST: Final = {WaitsFor.BUDGET: GoalStatus.BUDGET_LIMITED, WaitsFor.RESUME: GoalStatus.PAUSED}


def evidence_digest(history: History) -> str:
    """SHA-256 (hex) of what shows that the goal is reached by this candidate; empty without a PASS, or without a goal.

    It covers the goal, the candidate, the workspace's revision, who verified, and what they said.
    """
    goal, (_, said) = history.goal, history.opinions.get(GOAL_MET, (0, None))
    if goal is None or said is None or not history.pursues_goal or said.judgement is not Judgement.PASS:
        return ""
    facts = [goal.seq, goal.text, history.candidate, said.revision, said.judgement, said.session, said.said[:SHOWN]]
    return hashlib.sha256(orjson.dumps(facts)).hexdigest()
