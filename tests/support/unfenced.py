"""A store whose fence is gone, for tests that plant this fault."""

from fsm.journal.memory import MemoryJournal
from states.errors import Fenced


def without_fence(patch):
    """It takes whatever has the next number, from anybody."""
    held, rows = MemoryJournal._held, MemoryJournal._rows

    def unfenced(self, claim):
        try:
            return held(self, claim)
        except Fenced:
            return self._sessions[claim.session]

    def renumbered(self, state, claim, drafts):
        fence, state.fence = state.fence, claim.fence
        try:
            return rows(self, state, claim, drafts)
        finally:
            state.fence = fence

    patch.setattr(MemoryJournal, "_held", unfenced)
    patch.setattr(MemoryJournal, "_rows", renumbered)
