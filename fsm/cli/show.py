"""interlock show: what was said and done in a session, and what its success rests on."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@options.place
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def show(session: str, as_json: bool, **given: Any) -> int:
    """Show the conversation of SESSION with its tools and verdicts, and the receipt.

    With --json: session, state, status, reason, message, summary, text, run, turns, tool_calls, cost and usage (of the
    last run), session_usage (of all), title, goal (text, status; or null), forked_from (origin, at, digest; or null),
    contract, output_schema, output
    and receipt (null without one), waiting (calls that wait for an approval), and entries: seq, at, fence, record.
    """
    import asyncio
    import os

    from fsm.config import settings

    from .conversation import conversation
    from .past import entries_of
    from .terminal import out

    chosen = settings(options.as_flags(given), os.environ)
    entries = asyncio.run(entries_of(chosen.journal, session))
    if as_json:
        import orjson

        from .whole import whole

        out(orjson.dumps(whole(session, entries), option=orjson.OPT_INDENT_2).decode())
    else:
        for paragraph in conversation(session, entries):
            out(paragraph)
    return 0
