"""The loop: the built-in table with one gate more. LEDGER_BUG=1 puts the planted bug in its place."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fsm import Loop, ToolContext, default_graph, tool
from fsm.graph import Table

from .gates import BooksBalance, CachedBooksBalance, OffBy
from .ledger import Ledger


def graph_with(off_by: OffBy) -> Table:
    gate = CachedBooksBalance(off_by) if os.environ.get("LEDGER_BUG") else BooksBalance(off_by)
    return default_graph().with_gate(gate, "verify")


GRAPH = graph_with(lambda: 0)
"""For `interlock check ledger_agent:GRAPH` and the diagrams."""


def tools_of(ledger: Ledger) -> Sequence[Any]:
    """What the model may do with the books."""

    @tool(idempotent=True)
    def post(context: ToolContext, account: str, cents: int) -> str:
        """Write one posting; positive cents are debit, negative ones credit."""
        return "posted" if ledger.post(context.key, account, cents) else "was posted before"

    @tool(read_only=True)
    def off_by() -> int:
        """Cents by which the books do not balance."""
        return ledger.off_by()

    return [post, off_by]


def make_loop(**parts: Any) -> Loop:
    """A loop for the harness: its provider, tools, journal, clock and workspace are given, and so is what it sees."""
    return Loop(**parts, graph=graph_with(lambda: 0))


def loop_for(folder: Path, provider: Any, journal: str) -> Loop:
    """A loop for real books."""
    ledger = Ledger(folder)
    return Loop(
        provider=provider, tools=tools_of(ledger), workspace=folder, journal=journal, graph=graph_with(ledger.off_by)
    )
