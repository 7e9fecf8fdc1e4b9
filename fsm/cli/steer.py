"""interlock steer: say something to a session, whoever runs it."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@click.argument("text")
@options.place
def steer(session: str, text: str, **given: Any) -> int:
    """Say TEXT to SESSION. It reaches the model before the run can succeed, or starts the next run."""
    import asyncio
    import os

    from fsm.config import settings
    from fsm.loop import Loop
    from states.errors import ConfigError

    from .absent import Absent
    from .hints import command
    from .past import opened
    from .terminal import say

    if not text.strip():
        raise ConfigError("the message is empty; say what the model should know")
    chosen = settings(options.as_flags(given), os.environ)

    async def post() -> bool:
        async with opened(chosen.journal) as journal:
            await Loop(provider=Absent(), journal=journal).steer(session, text)
            return any(info.owner for info in await journal.sessions() if info.session == session)

    if asyncio.run(post()):
        say(f"session {session} hears it before it can succeed")
    else:
        say(f"nobody runs session {session}; it hears it with: {command(chosen, 'resume', session)}")
    return 0
