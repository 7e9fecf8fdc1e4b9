"""interlock report: a session as one page to look at, keep and pass on."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@click.option("--graph", metavar="MODULE:NAME", help="The table that the runs were made with, if not the built-in one.")
@click.option("--output", "-o", metavar="FILE", help="Where to write it.  [default: standard output]")
@options.place
def report(session: str, graph: str | None, output: str | None, **given: Any) -> int:
    """Write SESSION as one HTML page that needs no network and runs no script.

    The way through the machine, a time line, the conversation, the gates' verdicts with what they cite, tokens and
    cost, the receipt and its audit. Needs the extra `report`.
    """
    import asyncio
    import os

    from fsm.config import settings
    from fsm.graph import GRAPH
    from fsm.report import page

    from .deliver import deliver
    from .find_graph import find_graph
    from .past import examined

    chosen = settings(options.as_flags(given), os.environ)
    table = find_graph(graph) if graph else GRAPH
    entries, lost = asyncio.run(examined(chosen.journal, session))
    body = page(table, entries, session, lost).encode()
    return deliver(body, output)
