"""What a run was configured with, in one line each: SHA-256, hex."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import attrs
import orjson

from states.ports import ToolSpec

from .graph import Graph


@lru_cache(maxsize=64)
def graph_digest(graph: Graph) -> str:
    """Equal for tables with the same rows, in the same order, asking gates of the same names."""
    lines = (f"{row.source} {row.event} [{', '.join(g.name for g in row.guards)}] {row.target}\n" for row in graph)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def tools_digest(specs: Sequence[ToolSpec]) -> str:
    """Equal for the same tools with the same schemas and declarations, in any order."""
    plain = sorted(
        (attrs.asdict(spec, filter=attrs.filters.exclude("reads")) for spec in specs),
        key=lambda spec: str(spec["name"]),
    )
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()
