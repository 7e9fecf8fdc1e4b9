"""interlock goal: what a session is to reach, and how far it has come."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@click.option("--pause", "word", flag_value="pause", help="Runs may succeed without it, until it is taken up again.")
@click.option("--resume", "word", flag_value="resume", help="Take it up again.")
@click.option("--clear", "word", flag_value="clear", help="Give it up.")
@options.place
def goal(session: str, word: str | None, **given: Any) -> int:
    """Show the goal of SESSION and how far it has come, or pause it, take it up again, or give it up."""
    import asyncio
    import os

    from fsm.config import settings

    from .keeper import with_loop
    from .terminal import out

    chosen = settings(options.as_flags(given), os.environ)
    found = asyncio.run(with_loop(chosen, lambda loop: loop.goal(session, word)))
    out(f"{found[1]}: {found[0]}" if found else f"session {session} has no goal")
    return 0
