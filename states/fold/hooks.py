"""What hooks of the host answered."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from states.history import History
from states.names import State
from states.records import HookOutcome, HookResult

from .basics import need
from .calls import open_call

OF_A_STOP: Final = (HookOutcome.PASSED, HookOutcome.DENIED, HookOutcome.FAILED)
"""What can be said to a run that is about to stop."""


OF_A_SESSION: Final = ("UserPromptSubmit", "SessionStart", "SessionEnd")
"""Hooks about what is said to a session, and about its begin and end."""


def _hook_result(history: History, seq: int, record: HookResult) -> None:
    if record.event in OF_A_SESSION:
        need(not (record.call or record.arguments or record.candidate), seq, f"a {record.event} hook about a call")
        need(record.outcome in (HookOutcome.PASSED, HookOutcome.FAILED), seq, f"words that a hook {record.outcome}")
        return
    (_about_a_stop if record.candidate else _about_a_call)(history, seq, record)


def _about_a_call(history: History, seq: int, record: HookResult) -> None:
    state = open_call(history, seq, record.call)
    need(history.state is State.DISPATCH_TOOLS, seq, f"a hook's answer in {history.state}")
    need(state.intent is None, seq, f"a hook's answer about {record.call!r}, which was started")
    state.hooks = (*state.hooks, record)
    if record.arguments:
        state.asked, state.approval = False, None  # an approval is for exactly the arguments that were shown


def _about_a_stop(history: History, seq: int, record: HookResult) -> None:
    need(history.state is State.STOP_HOOK, seq, f"a stop hook's answer in {history.state}")
    need(record.candidate == history.candidate, seq, "a stop hook's answer about another candidate")
    need(history.stop_answer is None, seq, "a stop hook's answer after the seal")
    need(not record.call and not record.arguments, seq, "a stop hook's answer about a call")
    need(record.outcome in OF_A_STOP, seq, f"a stop hook that {record.outcome}")
    need(record.outcome is not HookOutcome.DENIED or bool(record.said.strip()), seq, "a refusal without a reason")
    refused = any(said.outcome is HookOutcome.DENIED for _, said in history.stop_hooks)
    need(not refused, seq, "a stop hook was asked after one that had refused")
    history.stop_hooks = (*history.stop_hooks, (seq, record))


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {HookResult: _hook_result}
