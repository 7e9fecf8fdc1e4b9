"""interlock fork: a new session that begins as another one was."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@click.option("--at", type=int, metavar="SEQ", help="After this record (`show` has the numbers).  [default: the last]")
@click.option("--name", metavar="NAME", help="What to call the new session.  [default: date and time]")
@options.place
def fork(session: str, at: int | None, name: str | None, **given: Any) -> int:
    """Make a new session that begins as SESSION was, and print its name.

    The two go their own ways from there. What SESSION had started and not finished is not run again.
    """
    import asyncio
    import os

    from fsm.config import settings

    from .hints import command
    from .keeper import with_loop
    from .remember import pass_on
    from .terminal import out, say

    chosen = settings(options.as_flags(given), os.environ)
    made = asyncio.run(with_loop(chosen, lambda loop: loop.fork(session, at=at, name=name)))
    pass_on(chosen.journal, session, made)
    out(made)
    say(f"go on there: {command(chosen, 'resume', made)} ['MESSAGE']")
    return 0
