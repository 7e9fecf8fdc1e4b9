"""What a command's exit status says."""

from enum import IntEnum

from fsm.result import RunStatus
from states.errors import ConfigError, SessionBusy, UnknownSession


class Status(IntEnum):
    """Of the process. The numbers are part of the outside interface."""

    SUCCEEDED = 0
    FAILED = 1
    USAGE = 2
    SUSPENDED = 3
    INTERRUPTED = 130
    """128 + SIGINT, as shells count; SIGTERM ends a run in the same way."""


OF_RUN = {
    RunStatus.SUCCEEDED: Status.SUCCEEDED,
    RunStatus.FAILED: Status.FAILED,
    RunStatus.SUSPENDED: Status.SUSPENDED,
}

CALLERS_SIDE = (ConfigError, SessionBusy, UnknownSession)
"""Errors that another command line would have avoided; every other one is trouble of the store or the far side."""
