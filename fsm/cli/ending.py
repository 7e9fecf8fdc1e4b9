"""The last words about a run, on standard error: how it ended or rests, and how to go on."""

import shlex
from collections.abc import Sequence
from typing import Final

from fsm.config import DIALECTS, Settings
from fsm.result import Result, RunStatus
from states.history import CallState, Question
from states.verdicts import WaitsFor

from .hints import command
from .progress import label
from .terminal import say

STORE_FAILED = frozenset({"message_persistence_failed", "tool_persistence_failed", "journal_failed"})
"""The run has not ended: its store could not be written. What is durable can be resumed."""
API_ERROR: Final = "api_error"
"""The server refused the request, or is none: doctor says how to mend it."""
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
        again = f"this run has ended; another one begins with: {command(settings, 'resume', session)} 'MESSAGE'"
        return [*_look_at_server(settings), again] if result.reason == API_ERROR else [again]
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
    if result.reason == WaitsFor.PROVIDER:
        go_on = f"go on: {command(settings, 'resume', session)} (--base-url URL: with another server)"
        return [*_look_at_server(settings), go_on]
    return [f"go on: {command(settings, 'resume', session)}"]


def _look_at_server(settings: Settings) -> list[str]:
    """How to find out what is wrong with the server: only where this command named it, and doctor can be told."""
    if settings.model is None or settings.provider not in DIALECTS:
        return []
    words = ["interlock", "doctor", "--provider", settings.provider, "--model", settings.model]
    words += ["--base-url", settings.base_url] if settings.base_url else []
    own = settings.api_key_env == DIALECTS[settings.provider].key
    words += [] if own else ["--api-key-env", settings.api_key_env]
    return [f"what is wrong with the server or the model's name: {shlex.join(words)}"]
