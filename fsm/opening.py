"""What a caller brings to a session, and the records that this makes of it."""

from typing import Final

import attrs

from states.contract import Budget, Permission
from states.errors import ConfigError
from states.history import History
from states.names import ENDS, State
from states.ports import FollowUp
from states.records import (
    Approval,
    BudgetChange,
    ChainChange,
    GoalSet,
    HookResult,
    Interruption,
    PermissionChange,
    PlanReview,
    Record,
    Resumed,
    RunStarted,
    Source,
    UserInput,
)
from states.rules import Rules

from .approvals import remembered

TOWARD_MODEL: Final = (State.PROVIDER_TURN, State.DISPATCH_TOOLS, State.AWAIT_RESULTS)
"""States from which the model is asked next: a lost process is worth a word there."""


APPROVED: Final = "The plan is approved. Carry it out."
REJECTED: Final = "The plan is not approved yet; go on planning."


def with_hooks(records: tuple[Record, ...], heard: tuple[HookResult, ...]) -> tuple[Record, ...]:
    """The records with what hooks said before the words that it is about; what they add is told with those."""
    if not heard:
        return records
    from .hooks.sessions import told_by

    place = next((at for at, record in enumerate(records) if isinstance(record, UserInput)), None)
    if place is None:
        return (*records, *heard)
    said = records[place]
    block = told_by(heard)
    if block and isinstance(said, UserInput):
        context = "\n\n".join(part for part in (said.context, block) if part)
        said = attrs.evolve(said, context=context)
    return (*records[:place], *heard, said, *records[place + 1 :])


@attrs.frozen
class Opening:
    """`create`: the session must be new, and `goal` is what it is to reach. `follow_up`: queued words begin the run.

    The rest is as in `Loop.resume`.
    """

    message: str | None = None
    create: bool = False
    goal: str = ""
    approve: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    reason: str = ""
    remember: tuple[str, ...] = ()
    rules: Rules = Rules()
    budget: Budget | None = None
    permission: Permission | None = None
    follow_up: FollowUp | None = None
    approve_plan: bool = False
    reject_plan: str | None = None

    @property
    def decides(self) -> bool:
        """Somebody says or decides something; else the session only goes on."""
        return self != Opening()

    def records(self, history: History, started: RunStarted, *, waiting: bool) -> tuple[Record, ...] | None:
        """Records that open, reopen or continue the session's run; None if there is nothing to do.

        started: the record of a run that would begin now. waiting: notes wait in the inbox.
        Raises ConfigError, naming what does not fit the session's state.
        """
        words = self._words(history)
        if history.started is None:
            if not words:
                raise ConfigError(f"session {history.session!r} never began a run; give it a message to begin one")
            return (started, *self._goal(), *words)
        if self.create:
            raise ConfigError(f"there is a session {history.session!r} already; resume it, or choose another name")
        approvals, review = self._approvals(history), self._review(history)
        budget = (BudgetChange(self.budget),) if self.budget else ()
        before = started.permission if history.state in ENDS else history.permission
        asked = self.permission or (self._carried_out_under(started) if self.approve_plan else before)
        changed = asked is not before or self.rules
        permission = (PermissionChange(asked, rules=self.rules),) if changed else ()
        if history.state in ENDS:
            return (started, *budget, *permission, *words) if words or waiting else None
        models = (started.model, *started.fallbacks)
        same = (models, started.window) == (history.models, history.window)
        chain = () if same else (ChainChange(models, started.window),)
        resumed = (Resumed(),) if history.state is State.SUSPENDED else ()
        lost = (Interruption(),) if history.turns > 0 and history.state in TOWARD_MODEL and not history.closing else ()
        kept = self._remembered(history, asked)
        opened = (*lost, *approvals, *budget, *permission, *chain, *kept, *review, *words, *resumed)
        if not opened and history.budget.seconds is not None and not history.closing:
            return (BudgetChange(history.budget),)  # work is timed from a record of the process that does it
        return opened

    def _goal(self) -> tuple[GoalSet, ...]:
        return (GoalSet(self.goal.strip()),) if self.goal.strip() else ()

    def _review(self, history: History) -> tuple[PlanReview, ...]:
        """What a person says to the plan. Words without a decision are comments on it: the planning goes on."""
        decided = self.approve_plan or self.reject_plan is not None
        if decided and history.plan is None:
            raise ConfigError(f"session {history.session!r} has no plan that waits for a review")
        if self.approve_plan and self.reject_plan is not None:
            raise ConfigError("the plan is both approved and rejected")
        if self.approve_plan and self.permission is Permission.PLAN:
            raise ConfigError("an approved plan cannot be carried out under permission 'plan'; give 'ask' or 'full'")
        if history.plan is None or not (decided or self.message):
            return ()
        said = self.reject_plan if self.reject_plan is not None else self.message
        return (PlanReview(history.plan.result, self.approve_plan, said or ""),)

    def _carried_out_under(self, started: RunStarted) -> Permission:
        """What an approved plan may do: what the loop is set to, or, if that is planning too, what a person allows."""
        return Permission.ASK if started.permission is Permission.PLAN else started.permission

    def _words(self, history: History) -> tuple[UserInput, ...]:
        plan, said = history.plan, (self.message or "").strip()
        if self.approve_plan and plan is not None:
            more = f"\n\nBesides: {said}" if said else ""
            return (UserInput(f"{APPROVED}\n\n<plan>\n{plan.shows.strip()}\n</plan>{more}", Source.PLAN),)
        if self.reject_plan is not None:
            comments = "\n\n".join(part for part in (self.reject_plan.strip(), said) if part)
            return (UserInput(f"{REJECTED} {comments}".strip()),)
        if self.follow_up is not None:
            return (UserInput(self.follow_up.text, Source.FOLLOW_UP, queued=self.follow_up.number),)
        return (UserInput(self.message),) if self.message and self.message.strip() else ()

    def _remembered(self, history: History, permission: Permission) -> tuple[PermissionChange, ...]:
        if wrong := set(self.remember) - set(self.approve):
            raise ConfigError(f"call {min(wrong)!r} is to be remembered, but it is not approved")
        granted = [state for state in history.open_calls() if state.call.id in self.remember]
        return tuple(attrs.evolve(remembered(history, state), permission=permission) for state in granted)

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
