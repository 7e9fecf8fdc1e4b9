"""A user's own table, by the name of its module and its name in it."""

import sys
from importlib import import_module
from pathlib import Path

from fsm.graph import Graph, Row
from states.errors import ConfigError


def find_graph(name: str) -> Graph:
    """The tuple of rows at MODULE:NAME; modules of the current folder count. Raises ConfigError."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ConfigError(f"{name!r} names no table; write MODULE:NAME, such as my_agent:GRAPH")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(import_module(module_name), attribute)
    except ImportError as error:
        raise ConfigError(f"{name}: module {module_name!r} cannot be imported: {error}") from error
    except AttributeError as error:
        raise ConfigError(f"{name}: module {module_name!r} has no {attribute!r}") from error
    rows = tuple(found) if isinstance(found, list | tuple) else ()
    if not rows or not all(isinstance(row, Row) for row in rows):
        raise ConfigError(f"{name} is no table: a tuple of fsm.Row is needed, as fsm.table(...) makes it")
    return rows
