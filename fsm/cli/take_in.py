"""interlock import: a session from a file that export made."""

from typing import Any

import click

from . import options


@click.command("import")
@click.argument("file")
@click.option("--name", metavar="NAME", help="Take it as a fork of this name, where the session's own is taken.")
@options.place
def take_in(file: str, name: str | None, **given: Any) -> int:
    """Take a session from FILE into the journal, and print its name. A file that was changed is refused."""
    import asyncio
    import os
    from pathlib import Path

    from fsm.config import settings
    from fsm.loop import Loop
    from states.errors import ConfigError

    from .absent import Absent
    from .hints import command
    from .terminal import out, say

    chosen = settings(options.as_flags(given), os.environ)
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error

    async def take() -> str:
        async with Loop(provider=Absent(), journal=chosen.journal) as loop:
            return await loop.import_session(content, name=name)

    made = asyncio.run(take())
    out(made)
    say(f"look: {command(chosen, 'show', made)}")
    return 0
