"""Everything a run leaves behind. Nouns, frozen, one tagged union.

A sequence number (`int` fields named after what they point to) names another record of the same session.
Adding a kind or a defaulted field keeps old journals readable; anything else needs a migration in `codec`.
"""

from collections.abc import Mapping
from typing import Final

import attrs

from states.names import Event

from .calls import (
    Approval,
    ApprovalAsked,
    Dispatch,
    HookOutcome,
    HookResult,
    PlanReview,
    Settlement,
    Status,
    ToolIntent,
    ToolResult,
)
from .context import Cause, Compaction, CompactionFailure, How
from .delegation import Delegated, DelegationEnded
from .goals import GoalChange, GoalSet, GoalWord
from .judgement import Candidate, Evidence, Finalized, Finding, OutputAccepted, StopAnswer, Verdict, Verification
from .moves import Cancellation, Failed, Interruption, Resumed, Summary, Suspended, Transition
from .prestart import Fate, Prestart, PrestartsDropped
from .runs import (
    Baseline,
    BudgetChange,
    ChainChange,
    Layer,
    PermissionChange,
    PromptLayer,
    RunStarted,
    Source,
    Understood,
    UserInput,
)
from .sessions import FileChange, Forked, Titled, Undone
from .turns import AssistantTurn, ProviderChange, Spent, Trouble, TurnDiscarded, TurnFailure
from .values import JSON, Metadata
from .verification import Judgement, VerifierResult, VerifierStarted

__all__ = [
    "CLOSING",
    "JSON",
    "Approval",
    "ApprovalAsked",
    "AssistantTurn",
    "Baseline",
    "BudgetChange",
    "Cancellation",
    "Candidate",
    "Cause",
    "ChainChange",
    "Compaction",
    "CompactionFailure",
    "Delegated",
    "DelegationEnded",
    "Dispatch",
    "Entry",
    "Evidence",
    "Failed",
    "Fate",
    "FileChange",
    "Finalized",
    "Finding",
    "Forked",
    "GoalChange",
    "GoalSet",
    "GoalWord",
    "HookOutcome",
    "HookResult",
    "How",
    "Interruption",
    "Judgement",
    "Layer",
    "Metadata",
    "OutputAccepted",
    "PermissionChange",
    "PlanReview",
    "Prestart",
    "PrestartsDropped",
    "PromptLayer",
    "ProviderChange",
    "Record",
    "Resumed",
    "RunStarted",
    "Settlement",
    "Source",
    "Spent",
    "Status",
    "StopAnswer",
    "Summary",
    "Suspended",
    "Titled",
    "ToolIntent",
    "ToolResult",
    "Transition",
    "Trouble",
    "TurnDiscarded",
    "TurnFailure",
    "Understood",
    "Undone",
    "UserInput",
    "Verdict",
    "Verification",
    "VerifierResult",
    "VerifierStarted",
]

Record = (
    RunStarted
    | UserInput
    | Understood
    | Baseline
    | AssistantTurn
    | TurnFailure
    | TurnDiscarded
    | Prestart
    | PrestartsDropped
    | ProviderChange
    | Compaction
    | CompactionFailure
    | ToolIntent
    | Dispatch
    | ToolResult
    | Settlement
    | Delegated
    | DelegationEnded
    | ApprovalAsked
    | Approval
    | PlanReview
    | HookResult
    | PermissionChange
    | ChainChange
    | BudgetChange
    | OutputAccepted
    | Candidate
    | Evidence
    | Finding
    | VerifierStarted
    | VerifierResult
    | Verification
    | StopAnswer
    | Finalized
    | Verdict
    | Transition
    | Cancellation
    | Failed
    | Suspended
    | Summary
    | Resumed
    | Interruption
    | Forked
    | Titled
    | Undone
    | GoalSet
    | GoalChange
)


CLOSING: Final[Mapping[type, Event]] = {
    AssistantTurn: Event.REPLIED,
    TurnFailure: Event.TURN_FAILED,
    Dispatch: Event.DISPATCHED,
    Settlement: Event.SETTLED,
    Candidate: Event.SUBMITTED,
    Verification: Event.VERIFIED,
    StopAnswer: Event.ANSWERED,
    Finalized: Event.FINALIZED,
    Cancellation: Event.CANCELLED,
    Resumed: Event.RESUMED,
}
"""The record that ends an activity is its event: there is no other way to say that something happened."""


@attrs.frozen
class Entry:
    """A record in its place. `at` is seconds since the epoch; `fence` is the number of the claim that wrote it."""

    seq: int
    at: float
    fence: int
    record: Record
