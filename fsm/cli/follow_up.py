"""interlock follow-up: words for the run after this one."""

from typing import Any

import click

from . import options


@click.command("follow-up")
@click.argument("session")
@click.argument("text")
@click.option("--id", "identity", metavar="ID", help="Queued once, however often it is posted.  [default: a new one]")
@options.place
def follow_up(session: str, text: str, identity: str | None, **given: Any) -> int:
    """Queue TEXT for SESSION: when its run has succeeded, it begins the next one."""
    import asyncio
    import os

    from fsm.config import settings
    from fsm.loop import Loop

    from .hints import command
    from .keeper import with_loop
    from .terminal import say

    chosen = settings(options.as_flags(given), os.environ)

    async def queue(loop: Loop) -> bool:
        await loop.follow_up(session, text, id=identity)
        return any(found.info.owner for found in await loop.sessions() if found.info.session == session)

    if asyncio.run(with_loop(chosen, queue)):
        say(f"session {session} takes it up when its run has succeeded")
    else:
        say(f"nobody runs session {session}; it is taken up after: {command(chosen, 'resume', session)}")
    return 0
