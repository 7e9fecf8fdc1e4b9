"""Asks the person at the terminal about calls that wait for an approval."""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import click
import orjson

from states.history import CallState
from states.records import JSON

from .stage import Job
from .terminal import say, visible

SHOWN: Final = 4000
"""Characters of a call's arguments that are shown; what is left out is counted."""


@attrs.frozen
class Answers:
    approve: tuple[str, ...]
    deny: tuple[str, ...]
    reason: str
    remember: tuple[str, ...] = ()

    def job(self, session: str) -> Job:
        """Go on with these answers."""
        return lambda loop, publish: loop.resume(
            session,
            approve=self.approve,
            deny=self.deny,
            reason=self.reason,
            remember=self.remember,
            on_event=publish,
        )


def ask(calls: Sequence[CallState]) -> Answers | None:
    """An answer for every call; None if the person would rather stop. Raises click.Abort on Ctrl-C and Ctrl-D."""
    approve: list[str] = []
    always: list[str] = []
    denied: dict[str, str] = {}
    for state in calls:
        why = f" ({state.why})" if state.why.startswith(("ask ", "it cannot")) else ""
        say(f"{state.call.name} wants to run{visible(why)}:", "bold")
        say(arguments_of(orjson.loads(state.arguments)))
        answer = click.prompt(
            "Allow it? [y]es, [a]lways in this session, [n]o, [q]uit",
            type=click.Choice(["y", "a", "n", "q"]),
            show_choices=False,
            err=True,
        )
        if answer == "q":
            return None
        if answer == "a":
            always.append(state.call.id)
        if answer in ("y", "a"):
            approve.append(state.call.id)
        else:
            denied[state.call.id] = click.prompt(
                "Why not? The model reads it", default="", show_default=False, err=True
            )
    reasons = {reason.strip() for reason in denied.values() if reason.strip()}
    if len(denied) > 1 and len(reasons) > 1:
        said = "; ".join(f"{call}: {reason}" for call, reason in denied.items() if reason.strip())
    else:
        said = "".join(reasons)
    return Answers(tuple(approve), tuple(denied), said, tuple(always))


def arguments_of(given: JSON | Mapping[str, JSON]) -> str:
    """One argument under the other, texts as they are."""
    lines = []
    for name, value in given.items() if isinstance(given, Mapping) else [("", given)]:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        left = f" … and {len(text) - SHOWN} more characters" if len(text) > SHOWN else ""
        indented = visible(text[:SHOWN]).replace("\n", "\n      ")
        lines.append(f"  {name}: {indented}{left}")
    return "\n".join(lines)
