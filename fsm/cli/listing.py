"""The sessions of a journal, each in a few facts."""

import sys
import time

from fsm.sessions.overview import Overview, overviews
from states.records import JSON

from .past import exists, opened
from .terminal import one_line


async def overview(path: str) -> list[dict[str, JSON]]:
    """The newest first. A session that cannot be read is listed with the reason; the others do not suffer."""
    if not exists(path):
        return []
    async with opened(path) as journal:
        return [_facts(found) for found in await overviews(journal)]


def _facts(found: Overview) -> dict[str, JSON]:
    info, history = found.info, found.history
    known: dict[str, JSON] = {
        "session": info.session,
        "state": None,
        "error": found.error,
        "entries": info.entries,
        "created": info.created,
        "updated": info.updated,
        "owner": info.owner,
    }
    if history is None:
        return known
    return known | {
        "state": history.state.value,
        "run": history.run,
        "turns": history.turns,
        "tool_calls": history.tool_calls,
        "tokens": history.usage.total,
        "session_tokens": history.spent.total,
        "model": history.started.model if history.started else "",
        "agent": history.started.agent if history.started else "",
        "parent": history.started.parent if history.started else "",
        "title": history.title,
        "forked_from": history.forked.origin if history.forked else "",
        "task": found.task,
    }


def table(found: list[dict[str, JSON]]) -> None:
    """Print them for a person."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("session", "state", "turns", "updated", "owner"):
        shown.add_column(column, no_wrap=True)
    shown.add_column("task", no_wrap=True, overflow="ellipsis")
    for facts in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(float(str(facts["updated"]))))
        words = (
            str(facts["session"]),
            str(facts["state"] or "unreadable"),
            str(facts.get("turns", "")),
            when,
            str(facts["owner"]),
            str(facts.get("title") or facts.get("task") or facts["error"]),
        )
        shown.add_row(*(Text(one_line(word)) for word in words))
    # without a terminal there is no width to fit into, and nothing is cut off
    Console(highlight=False, width=None if sys.stdout.isatty() else 250).print(shown)
