"""Deferred tools: the model is told their names, and loads the schemas that it needs through a reserved tool."""

from collections.abc import Mapping, Sequence
from typing import Final

from .ports import ToolSpec
from .records import Metadata

TOOL_SEARCH: Final = "tool_search"
"""Name of the reserved tool. What it has loaded is in the metadata of its results, and so in the journal."""
LOADED: Final = "loaded"


def loaded_by(metadata: Metadata) -> tuple[str, ...]:
    """Names that a result of `tool_search` has loaded."""
    names = metadata.get(LOADED)
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def sent(tools: Sequence[ToolSpec], loaded: Mapping[str, object]) -> list[ToolSpec]:
    """The tools whose schemas go with a request. Loaded ones come last, as they were loaded: what was sent before
    stays in its place, for the provider's cache.
    """
    later = {tool.name: tool for tool in tools if tool.deferred}
    return [tool for tool in tools if not tool.deferred] + [later[name] for name in loaded if name in later]


def unloaded(name: str) -> str:
    """What the model reads when it calls one that it has not loaded."""
    return (
        f"Error: {name} is not loaded, so its parameters are not known to you. Load it with {TOOL_SEARCH} "
        f'{{"names": ["{name}"]}}; it can be called from the next turn on. Not started.'
    )
