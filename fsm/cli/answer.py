"""Asks the person at the terminal what a tool wants to know, and what they say to a plan."""

from collections.abc import Sequence

import attrs
import click

from states.contract import Permission
from states.history import Question
from states.verdicts import WaitsFor

from .stage import Job
from .terminal import say, visible


@attrs.frozen
class Answer:
    """`message` answers what was asked. `approved` is None where no plan was."""

    message: str
    approved: bool | None = None
    permission: Permission | None = None

    def job(self, session: str) -> Job:
        """Go on with this answer."""
        if self.approved is None:
            return lambda loop, publish: loop.resume(session, self.message, on_event=publish)
        if self.approved:
            return lambda loop, publish: loop.resume(
                session, approve_plan=True, permission=self.permission, on_event=publish
            )
        return lambda loop, publish: loop.resume(session, reject_plan=self.message, on_event=publish)


def hear(questions: Sequence[Question]) -> Answer | None:
    """What the person says; None if they would rather stop. Raises click.Abort on Ctrl-C and Ctrl-D."""
    for question in questions:
        plan = question.waits_for is WaitsFor.PLAN_REVIEW
        say("The plan:" if plan else "A question:", "bold")
        say(visible(question.shows))
    if any(question.waits_for is WaitsFor.PLAN_REVIEW for question in questions):
        return _review()
    said = click.prompt("Your answer (empty: later)", default="", show_default=False, err=True)
    return Answer(said) if said.strip() else None


def _review() -> Answer | None:
    choices = click.Choice(["a", "f", "r", "q"])
    words = "[a]pprove, asking before each change; approve, [f]ull permission; [r]eject; [q]uit"
    said = click.prompt(words, type=choices, show_choices=False, err=True)
    if said == "q":
        return None
    if said == "r":
        return Answer(click.prompt("What should be different? The model reads it", err=True), approved=False)
    return Answer("", approved=True, permission=Permission.FULL if said == "f" else Permission.ASK)
