"""A history that can be tried out without touching the one it came from."""

from collections import Counter

import attrs

from states.history import CallState, History

_NAMES = tuple(field.name for field in attrs.fields(History))
_CALL = tuple(field.name for field in attrs.fields(CallState))


def copy_of(history: History) -> History:
    """An independent copy. Records and messages are frozen and therefore shared."""
    twin: History = History.__new__(History)
    for name in _NAMES:
        setattr(twin, name, getattr(history, name))
    twin.messages = history.messages.copy()
    twin.held = history.held.copy()
    twin.retries = Counter(history.retries)
    twin.calls = {name: _copy_of_call(state) for name, state in history.calls.items()}
    twin.verdicts = history.verdicts.copy()
    twin.evidence = history.evidence.copy()
    twin.commands = history.commands.copy()
    twin.unspent = history.unspent.copy()
    return twin


def _copy_of_call(state: CallState) -> CallState:
    twin: CallState = CallState.__new__(CallState)
    for name in _CALL:
        setattr(twin, name, getattr(state, name))
    return twin
