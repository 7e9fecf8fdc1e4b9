"""A user's own table or loop, by the name of its module and its name in it."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from fsm.graph import Graph, Row
from states.errors import ConfigError


def look_here() -> None:
    """Modules of the current folder count."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def find_graph(name: str) -> Graph:
    """The tuple of rows at MODULE:NAME; modules of the current folder count. Raises ConfigError."""
    rows = _rows(_found(name))
    if rows is None:
        raise ConfigError(f"{name} is no table: a tuple of fsm.Row is needed, as fsm.table(...) makes it")
    return rows


def find_loop(name: str) -> Graph | Callable[..., Any]:
    """The table at MODULE:NAME, that of a loop there, or the function there that makes loops. Raises ConfigError."""
    found = _found(name)
    rows = _rows(found) or _rows(getattr(found, "graph", None))
    if rows is not None:
        return rows
    if not callable(found):
        raise ConfigError(f"{name} is neither a table, nor a Loop, nor a function that makes one")
    made: Callable[..., Any] = found
    return made


def _found(name: str) -> object:
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ConfigError(f"{name!r} names no table; write MODULE:NAME, such as my_agent:GRAPH")
    look_here()
    try:
        return getattr(import_module(module_name), attribute)
    except ImportError as error:
        raise ConfigError(f"{name}: module {module_name!r} cannot be imported: {error}") from error
    except AttributeError as error:
        raise ConfigError(f"{name}: module {module_name!r} has no {attribute!r}") from error


def _rows(found: object) -> Graph | None:
    rows = tuple(found) if isinstance(found, list | tuple) else ()
    return rows if rows and all(isinstance(row, Row) for row in rows) else None
