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

    Exit status 1 if a record was edited (the first is named), if one is not justified (each is named), or if the file
    has lost what protects it. Keep the head that is printed: it alone tells whether the end was cut off since.
    """
    import asyncio
    import os

    from fsm.audit import audit as rederive
    from fsm.config import settings
    from fsm.graph import GRAPH
    from fsm.summary import head, summary

    from .find_graph import find_graph
    from .past import examined
    from .terminal import out

    chosen = settings(options.as_flags(given), os.environ)
    table = find_graph(graph) if graph else GRAPH
    entries, found = asyncio.run(examined(chosen.journal, session))
    found += [f"unjustified: {complaint}" for complaint in rederive(table, entries, session)]
    out(f"session {session}: {summary(entries)}")
    out(f"head of the chain: {head(session, entries)}")
    for complaint in found:
        out(complaint)
    if not found:
        out("the chain of digests holds; every verdict, move and receipt follows from what stood before it")
    return 1 if found else 0
