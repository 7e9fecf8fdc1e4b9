"""interlock cancel: let a session come to rest, whoever runs it."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@options.place
def cancel(session: str, **given: Any) -> int:
    """Stop SESSION. It rests, with everything that happened kept, and can be resumed."""
    import asyncio
    import os

    from fsm.config import settings
    from fsm.loop import Loop

    from .absent import Absent
    from .hints import command
    from .past import opened
    from .terminal import say

    chosen = settings(options.as_flags(given), os.environ)

    async def stop() -> bool:
        async with opened(chosen.journal) as journal:
            return await Loop(provider=Absent(), journal=journal).cancel(session)

    if asyncio.run(stop()):
        say(f"session {session} comes to rest; go on: {command(chosen, 'resume', session)}")
    else:
        say(f"session {session} is at rest already")
    return 0
