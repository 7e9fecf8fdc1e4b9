"""The workspace as evidence: a digest of its content."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .revision import LocalWorkspace

__all__ = ["LocalWorkspace"]


def __getattr__(name: str) -> object:
    """Import on first use, so that `import fsm` stays light."""
    if name != "LocalWorkspace":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .revision import LocalWorkspace

    return LocalWorkspace
