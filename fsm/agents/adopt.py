"""Begins a session that belongs to a call or a gate, takes it up where it stands, or takes what it has come to."""

from collections.abc import Callable
from typing import Protocol

import attrs

from fsm import events
from fsm.result import Result, result_of
from fsm.tools import ToolError
from states.contract import Permission
from states.errors import UnknownSession
from states.fold import fold
from states.history import History
from states.names import ENDS
from states.ports import Journal

from .agent import narrower
from .report import WAITS_FOR_A_PERSON

Publish = Callable[[events.Event], None]


class Runs(Protocol):
    """As much of a `Loop` as this needs."""

    @property
    def journal(self) -> Journal: ...

    async def run(self, task: str, *, session: str | None = None, on_event: Publish = ...) -> Result: ...

    async def resume(
        self, session: str, *, permission: Permission | str | None = None, on_event: Publish = ...
    ) -> Result: ...


async def past_of(journal: Journal, session: str) -> History | None:
    """What is durable of a session; None if it never began a run."""
    try:
        past = fold(session, await journal.read(session))
    except UnknownSession:
        return None
    return past if past.started is not None else None


@attrs.frozen
class Claimed:
    """A session of a call or a gate: whose it is, what is to be done, and the most that it may be allowed."""

    session: str
    parent: str
    prompt: str
    most: Permission


async def go_on(loop: Runs, what: Claimed, publish: Publish = lambda _: None) -> Result:
    """Run it until it ends or rests, from wherever it stands. One that only a person can wake is left as it is.

    Raises ToolError for a session of somebody else.
    """
    past = await past_of(loop.journal, what.session)
    if past is None or past.started is None:
        return await loop.run(what.prompt, session=what.session, on_event=publish)
    if past.started.parent != what.parent:
        raise ToolError(f"there is a session {what.session!r} already, and it is not this call's; it has to go first.")
    if past.state in ENDS or (past.rest is not None and past.rest.waits_for in WAITS_FOR_A_PERSON):
        return result_of(past)
    allowed = narrower(past.permission, what.most)
    return await loop.resume(what.session, permission=None if allowed is past.permission else allowed, on_event=publish)
