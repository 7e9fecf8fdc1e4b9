"""Why somebody else should look at what a run has done."""

from functools import lru_cache
from typing import Final

from gates.commands import kinds_of
from gates.shell.read_only import provably_read_only
from states.history import History

from .paths import is_implementation, is_risky

MANY: Final = 3
"""Implementation files from which on a change is no small one (blade-code's limit)."""


def reasons(history: History) -> tuple[str, ...]:
    """In words; empty if nothing that the run did calls for it."""
    root = history.started.workspace if history.started else ""
    files = [path for path in history.changed if is_implementation(path)]
    found: list[str] = []
    if len(files) >= MANY:
        found.append(f"{len(files)} implementation files were changed")
    if risky := next((path for path in history.changed if is_risky(path)), None):
        found.append(f"{risky} was changed, where a mistake is worse than elsewhere")
    if wild := next((ran for ran in history.shell if not harmless(ran, history.contract.proofs, root)), None):
        found.append(f"`{wild[:80]}` may have changed anything")
    return tuple(found)


@lru_cache(maxsize=1024)
def harmless(command: str, proofs: tuple[tuple[str, str], ...], root: str) -> bool:
    """Provably read-only, or a check."""
    return provably_read_only(command) or bool(kinds_of(command, proofs, root))
