"""What a caller brings to a session, and the records that this makes of it."""

import attrs

from states.contract import Budget, Permission
from states.errors import ConfigError
from states.history import History
from states.names import ENDS, State
from states.records import Approval, BudgetChange, PermissionChange, Record, Resumed, RunStarted, UserInput


@attrs.frozen
class Opening:
    """`create`: the session must be new. The rest is as in `Loop.resume`."""

    message: str | None = None
    create: bool = False
    approve: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    reason: str = ""
    budget: Budget | None = None
    permission: Permission | None = None

    def records(self, history: History, started: RunStarted, *, waiting: bool) -> tuple[Record, ...] | None:
        """Records that open, reopen or continue the session's run; None if there is nothing to do.

        started: the record of a run that would begin now. waiting: notes wait in the inbox.
        Raises ConfigError, naming what does not fit the session's state.
        """
        words = (UserInput(self.message),) if self.message and self.message.strip() else ()
        if history.started is None:
            if not words:
                raise ConfigError(f"session {history.session!r} never began a run; give it a message to begin one")
            return (started, *words)
        if self.create:
            raise ConfigError(f"there is a session {history.session!r} already; resume it, or choose another name")
        approvals = self._approvals(history)
        budget = (BudgetChange(self.budget),) if self.budget else ()
        before = started.permission if history.state in ENDS else history.permission
        asked = self.permission or before
        permission = (PermissionChange(asked),) if asked is not before else ()
        if history.state in ENDS:
            return (started, *budget, *permission, *words) if words or waiting else None
        resumed = (Resumed(),) if history.state is State.SUSPENDED else ()
        return (*approvals, *budget, *permission, *words, *resumed)

    def _approvals(self, history: History) -> tuple[Approval, ...]:
        waiting = {state.call.id for state in history.open_calls() if state.asked and state.approval is None}
        for call in (*self.approve, *self.deny):
            if call not in waiting:
                known = ", ".join(sorted(waiting)) or "none"
                raise ConfigError(
                    f"call {call!r} of session {history.session!r} waits for no approval; waiting: {known}"
                )
        if twice := set(self.approve) & set(self.deny):
            raise ConfigError(f"call {min(twice)!r} is both approved and denied")
        return (
            *(Approval(call, granted=True, reason=self.reason) for call in self.approve),
            *(Approval(call, granted=False, reason=self.reason) for call in self.deny),
        )
