"""A history that can be tried out without touching the one it came from."""

import attrs

from states.history import CallState, History

_NAMES = tuple(field.name for field in attrs.fields(History))
_CALL = tuple(field.name for field in attrs.fields(CallState))


def copy_of(history: History) -> History:
    """An independent copy. Records and messages are frozen and therefore shared."""
    twin: History = History.__new__(History)
    for name in _NAMES:
        value = getattr(history, name)
        setattr(twin, name, value.copy() if isinstance(value, dict | list | set) else value)
    twin.calls = {name: _copy_of_call(state) for name, state in history.calls.items()}
    return twin


def _copy_of_call(state: CallState) -> CallState:
    twin: CallState = CallState.__new__(CallState)
    for name in _CALL:
        setattr(twin, name, getattr(state, name))
    return twin
