"""The words of the diagram: where a run can stand and what can happen to it."""

from enum import StrEnum
from typing import Final


class State(StrEnum):
    """Where a run stands. The value is what the journal stores."""

    PROVIDER_TURN = "provider_turn"
    """The model is asked for its next turn."""
    DISPATCH_TOOLS = "dispatch_tools"
    """The calls of a committed turn become intents, or are answered at once."""
    AWAIT_RESULTS = "await_results"
    """Started tools run; each result is committed when it lands."""
    CANDIDATE_FINAL = "candidate_final"
    """The model says that it is done; nobody believes it yet."""
    VERIFY = "verify"
    """Evidence for the candidate is gathered and judged."""
    STOP_HOOK = "stop_hook"
    """The last objections: the host's hook, and inputs that came late."""
    FINALIZE = "finalize"
    """The receipt is written."""
    SUCCEEDED = "succeeded"
    """An end: the receipt is durable and holds."""
    FAILED = "failed"
    """An end: a named gate or the store said no."""
    SUSPENDED = "suspended"
    """At rest: the run says what it waits for and can go on."""


class Event(StrEnum):
    """What an activity reports, or what the world did: past participles."""

    REPLIED = "replied"
    TURN_FAILED = "turn_failed"
    DISPATCHED = "dispatched"
    SETTLED = "settled"
    SUBMITTED = "submitted"
    VERIFIED = "verified"
    ANSWERED = "answered"
    FINALIZED = "finalized"
    COMMIT_FAILED = "commit_failed"
    CANCELLED = "cancelled"
    RESUMED = "resumed"


INITIAL: Final = State.PROVIDER_TURN
ENDS: Final = frozenset({State.SUCCEEDED, State.FAILED})
RESTING: Final = ENDS | {State.SUSPENDED}
RUNNING: Final = tuple(state for state in State if state not in RESTING)
