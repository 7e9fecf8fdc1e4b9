"""The last words about a run, on standard error: how it ended or rests, and how to go on."""

from collections.abc import Sequence

from fsm.config import Settings
from fsm.result import Result, RunStatus
from states.history import CallState, Question
from states.verdicts import WaitsFor

from .hints import command
from .progress import label
from .terminal import say

STORE_FAILED = frozenset({"message_persistence_failed", "tool_persistence_failed", "journal_failed"})
"""The run has not ended: its store could not be written. What is durable can be resumed."""
_STYLES = {RunStatus.SUCCEEDED: "green", RunStatus.FAILED: "red", RunStatus.SUSPENDED: "yellow"}


def end(settings: Settings, result: Result, waiting: Sequence[CallState], questions: Sequence[Question] = ()) -> None:
    """Names the session, the reason, what was spent, and the next command where there is one."""
    session = result.session_id
    reason = "" if result.status is RunStatus.SUCCEEDED else f" ({result.reason})"
    spent = f"{result.turns} turns, {result.tool_calls} calls, {result.usage.total} tokens"
    spent += f", {result.cost:.4f} USD" if result.cost else ""
    say(f"{result.status}{reason}: session {session}, {spent}", _STYLES[result.status])
    for question in questions:
        say(question.shows)
    if result.message and not questions:
        say(f"  {result.message}")
    if result.summary:
        say(f"  {result.summary}")
    for line in _next(settings, result, waiting):
        say(f"  {line}")


def _next(settings: Settings, result: Result, waiting: Sequence[CallState]) -> list[str]:
    session = result.session_id
    if result.status is RunStatus.SUCCEEDED:
        return []
    if result.reason in STORE_FAILED:
        return [f"when that is mended: {command(settings, 'resume', session)}"]
    if result.status is RunStatus.FAILED:
        return [f"this run has ended; another one begins with: {command(settings, 'resume', session)} 'MESSAGE'"]
    if result.reason == WaitsFor.APPROVAL:
        lines = []
        for state in waiting:
            lines.append(f"{state.call.id}: {label(state.call.name, state.arguments)}")
            lines.append(f"  approve: {command(settings, 'resume', session, '--approve', state.call.id)}")
            lines.append(f"  deny:    {command(settings, 'resume', session, '--deny', state.call.id)} --reason WHY")
        return lines
    if result.reason == WaitsFor.PLAN_REVIEW:
        return [
            f"approve: {command(settings, 'resume', session, '--approve-plan')} (--permission full: without asking)",
            f"reject:  {command(settings, 'resume', session, '--reject-plan')} COMMENTS",
        ]
    if result.reason == WaitsFor.ANSWER:
        return [f"answer: {command(settings, 'resume', session)} 'ANSWER'"]
    if result.reason == WaitsFor.BUDGET:
        return [f"go on with more: {command(settings, 'resume', session)} --max-turns N (or the limit that is spent)"]
    return [f"go on: {command(settings, 'resume', session)}"]
