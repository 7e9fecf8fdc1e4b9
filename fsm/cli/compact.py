"""interlock compact: replace what came before in a session by a ledger, for the model; the journal keeps it all."""

from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from states.records import Compaction


@click.command()
@click.argument("session")
@options.model
@options.place
def compact(session: str, **given: Any) -> int:
    """Compact SESSION, which rests or has ended: its model writes a ledger that stands for the older turns.

    Exit status 1 if no ledger could be had; the session is then as it was.
    """
    import asyncio
    import os

    from fsm.config import settings

    from .assemble import assemble, following_run
    from .past import history_of
    from .remember import recall
    from .terminal import say

    flags = options.as_flags(given)
    past = asyncio.run(history_of(settings(flags, os.environ).journal, session))
    chosen = recall(flags, os.environ, past)
    loop = assemble(chosen, following_run(chosen, flags, past))

    async def work() -> "Compaction | None":
        async with loop:
            return await loop.compact(session)

    say(f"session {session}: {said_of(asyncio.run(work()))}")
    return 0


def said_of(made: "Compaction | None") -> str:
    """What a person is told of it."""
    if made is None:
        return "there is nothing to compact"
    return (
        f"{made.dropped} messages are replaced by a ledger, about {made.before} tokens became {made.after}; "
        "`interlock show` has everything"
    )
