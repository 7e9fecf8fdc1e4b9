"""interlock diagram: the table as a picture."""

from typing import TYPE_CHECKING, Any, Final

import click

from . import options

if TYPE_CHECKING:
    from fsm.draw import Marks
    from fsm.graph import Graph
    from states.names import State

FORMATS: Final = ("mermaid", "dot", "svg", "png", "markdown", "terminal")


@click.command()
@click.option("--format", "wanted", type=click.Choice(FORMATS), default="mermaid", show_default=True)
@click.option("--session", metavar="SESSION", help="The way that this session took, how often, and how long it stayed.")
@click.option("--state", metavar="STATE", help="Only this state and the rows that lead out of it.")
@click.option("--diff", metavar="MODULE:NAME", help="What the table (--graph, or the built-in one) adds and lacks.")
@click.option("--graph", metavar="MODULE:NAME", help="A table of your own instead of the built-in one.")
@click.option("--theme", type=click.Choice(("auto", "light", "dark")), default="auto", help="Of SVG and PNG.")
@click.option("--output", "-o", metavar="FILE", help="Where to write it.  [default: standard output]")
@options.place
def diagram(
    *,
    wanted: str,
    session: str | None,
    state: str | None,
    diff: str | None,
    graph: str | None,
    theme: str,
    output: str | None,
    **given: Any,
) -> int:
    """Draw the table that every run obeys: whole, a part of it, with the way of a session, or against another one."""
    import asyncio
    import os
    import sys

    from fsm import draw
    from fsm.config import settings
    from fsm.graph import GRAPH
    from states.errors import ConfigError

    from .deliver import deliver
    from .find_graph import find_graph
    from .past import entries_of

    table, marks = find_graph(graph) if graph else GRAPH, draw.Marks()
    if session is not None and diff is not None:
        raise ConfigError("--session and --diff mark different things; give one of them")
    if session is not None:
        chosen = settings(options.as_flags(given), os.environ)
        marks = draw.session_marks(table, asyncio.run(entries_of(chosen.journal, session)))
    if diff is not None:
        table, marks = draw.difference(find_graph(diff), table)
    if wanted == "png" and output is None and sys.stdout.isatty():
        raise ConfigError("a PNG is nothing for a terminal; give a file with -o FILE")
    body = _drawn(wanted, table, marks, _state(state), theme)
    return deliver(body, output)


def _drawn(wanted: str, table: "Graph", marks: "Marks", part: "State | None", theme: str) -> bytes:
    from fsm import draw

    if wanted == "png":
        return draw.png(table, marks, part, dark=theme == "dark")
    if wanted == "svg":
        return draw.svg(table, marks, part, theme=draw.Theme(theme)).encode()
    text = {"mermaid": draw.mermaid, "dot": draw.dot, "markdown": draw.markdown, "terminal": draw.terminal}
    return text[wanted](table, marks, part).encode()


def _state(name: str | None) -> "State | None":
    from states.errors import ConfigError
    from states.names import State

    if name is None:
        return None
    try:
        return State(name)
    except ValueError:
        raise ConfigError(f"--state: there is no state {name!r}; there are: {', '.join(State)}") from None
