"""interlock title: what people call a session."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@click.argument("text")
@options.place
def title(session: str, text: str, **given: Any) -> int:
    """Call SESSION something; an empty TEXT takes the title away."""
    import asyncio
    import os

    from fsm.config import settings

    from .keeper import with_loop

    chosen = settings(options.as_flags(given), os.environ)
    asyncio.run(with_loop(chosen, lambda loop: loop.title(session, text)))
    return 0
