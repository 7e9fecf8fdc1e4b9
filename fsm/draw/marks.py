"""What stands out in a picture of a table: the way of a session, or what differs from another table."""

from collections.abc import Mapping
from typing import Final

import attrs

from states.names import State


@attrs.frozen
class Marks:
    """Rows are named by their place in the drawn table, from 1."""

    taken: Mapping[int, int] = attrs.field(factory=dict)
    """Rows that a session took, and how often."""
    spent: Mapping[State, str] = attrs.field(factory=dict)
    """Words beside a state: how often the session came there, and how long it stayed."""
    here: State | None = None
    """Where the session stands."""
    stands: str = ""
    """In what manner: "rests here: waits for approval"."""
    added: frozenset[int] = frozenset()
    """Rows that the other table lacks."""
    removed: frozenset[int] = frozenset()
    """Rows that only the other table has."""
    names: Mapping[int, str] = attrs.field(factory=dict)
    """What a row is called, where that is not its place."""

    @property
    def striking(self) -> frozenset[int]:
        return frozenset(self.taken) | self.added | self.removed

    @property
    def compares(self) -> bool:
        return bool(self.names)

    def name(self, row: int) -> str:
        return self.names.get(row, str(row))

    def look(self, row: int) -> str:
        """How a striking row is drawn; empty for any other."""
        if row in self.added:
            return "added"
        if row in self.removed:
            return "removed"
        return "took" if row in self.taken else ""

    def times(self, row: int) -> str:
        """Such as "×3", from the second time on."""
        return f"×{self.taken[row]}" if self.taken.get(row, 0) > 1 else ""


PLAIN: Final = Marks()
