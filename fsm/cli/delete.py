"""interlock delete: forget a session."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@options.place
def delete(session: str, **given: Any) -> int:
    """Forget SESSION and what was kept for it. Refused while somebody runs it."""
    import asyncio
    import os

    from fsm.config import settings

    from .keeper import with_loop
    from .remember import forget
    from .terminal import say

    chosen = settings(options.as_flags(given), os.environ)
    asyncio.run(with_loop(chosen, lambda loop: loop.delete(session)))
    forget(chosen.journal, session)
    say(f"session {session} is gone")
    return 0
