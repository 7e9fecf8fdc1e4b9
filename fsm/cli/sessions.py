"""interlock sessions: what a journal holds."""

from typing import Any

import click

from . import options


@click.command()
@options.place
@click.option("--json", "as_json", is_flag=True, help="A JSON array instead of a table.")
def sessions(as_json: bool, **given: Any) -> int:
    """List the sessions of the journal, the newest first.

    With --json, each has: session, state (null if it cannot be read), error, run, turns, tool_calls, tokens (of the
    last run), session_tokens (of all), entries, created, updated (seconds since the epoch), owner (empty: nobody runs
    it), model, title, forked_from, task.
    """
    import asyncio
    import os

    from fsm.config import settings

    from .listing import overview, table
    from .terminal import out

    chosen = settings(options.as_flags(given), os.environ)
    found = asyncio.run(overview(chosen.journal))
    if as_json:
        import orjson

        out(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    else:
        table(found)
    return 0
