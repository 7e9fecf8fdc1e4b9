"""interlock audit: does everything in a session's journal follow from what came before it?"""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@options.place
@click.option("--graph", metavar="MODULE:NAME", help="The table that the runs were made with, if not the built-in one.")
def audit(session: str, graph: str | None, **given: Any) -> int:
    """Check the chain of digests of SESSION, and derive every verdict and move again.

    Exit status 1 if a record was edited or is not justified; each such record is named.
    """
    import asyncio
    import os

    from fsm.audit import audit as rederive
    from fsm.config import settings
    from fsm.graph import GRAPH

    from .find_graph import find_graph
    from .past import entries_of
    from .summary import head, summary
    from .terminal import out

    chosen = settings(options.as_flags(given), os.environ)
    table = find_graph(graph) if graph else GRAPH
    entries = asyncio.run(entries_of(chosen.journal, session))
    found = rederive(table, entries, session)
    out(f"session {session}: {summary(entries)}")
    out(f"head of the chain: {head(session, entries)}")
    for complaint in found:
        out(f"unjustified: {complaint}")
    if not found:
        out("the chain of digests holds; every verdict, move and receipt follows from what stood before it")
    return 1 if found else 0
