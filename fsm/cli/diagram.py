"""interlock diagram: the table as a picture."""

from typing import Any, Final

import click

from . import options

FORMATS: Final = ("mermaid", "dot", "svg", "png")


@click.command()
@click.option("--format", "wanted", type=click.Choice(FORMATS), default="mermaid", show_default=True)
@click.option("--session", metavar="SESSION", help="Mark the way that this session took.")
@click.option("--graph", metavar="MODULE:NAME", help="A table of your own instead of the built-in one.")
@click.option("--output", "-o", metavar="FILE", help="Where to write it.  [default: standard output]")
@options.place
def diagram(wanted: str, session: str | None, graph: str | None, output: str | None, **given: Any) -> int:
    """Draw the table that every run obeys."""
    import asyncio
    import os
    import sys
    from pathlib import Path

    from fsm import draw
    from fsm.config import settings
    from fsm.graph import GRAPH
    from states.errors import ConfigError

    from .find_graph import find_graph
    from .past import entries_of

    table = find_graph(graph) if graph else GRAPH
    taken: frozenset[int] = frozenset()
    if session is not None:
        chosen = settings(options.as_flags(given), os.environ)
        taken = draw.session_path(table, asyncio.run(entries_of(chosen.journal, session)))
    if wanted == "png" and output is None and sys.stdout.isatty():
        raise ConfigError("a PNG is nothing for a terminal; give a file with -o FILE")
    if wanted == "png":
        body = draw.png(table, taken)
    else:
        body = {"mermaid": draw.mermaid, "dot": draw.dot, "svg": draw.svg}[wanted](table, taken).encode()
    if output is None:
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
        return 0
    try:
        Path(output).write_bytes(body)
    except OSError as error:
        raise ConfigError(f"--output: {output!r} cannot be written: {error}") from error
    return 0
