"""interlock undo: files as they were before a record."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@click.option("--to", type=int, required=True, metavar="SEQ", help="As it was before this record (see `changes`).")
@click.option("--force", is_flag=True, help="Also files that somebody else has changed since.")
@options.place
def undo(session: str, to: int, force: bool, **given: Any) -> int:
    """Take back what the file tools of SESSION changed from record SEQ on. It is put on record, and can be undone.

    What bash changed is not taken back. If somebody else has changed one of the files since, nothing at all is changed.
    """
    import asyncio
    import os

    import attrs

    from fsm.config import settings

    from .keeper import with_loop
    from .past import history_of
    from .terminal import out, say

    chosen = settings(options.as_flags(given), os.environ)
    started = asyncio.run(history_of(chosen.journal, session)).started
    if started is not None and started.workspace and not given.get("workspace"):
        chosen = attrs.evolve(chosen, workspace=type(chosen.workspace)(started.workspace))
    files = asyncio.run(with_loop(chosen, lambda loop: loop.undo(session, to=to, force=force)))
    for file in files:
        out(f"{'removed' if file.after is None else 'restored'} {file.path}")
    if not files:
        say(f"no file tool of session {session} has changed anything since record {to} that is still changed")
    return 0
