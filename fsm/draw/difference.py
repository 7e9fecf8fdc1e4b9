"""Two tables as one: the rows of both in order, with what was added and what was removed."""

from difflib import SequenceMatcher

from fsm.graph import Graph, Row

from .marks import Marks


def difference(old: Graph, new: Graph) -> tuple[Graph, Marks]:
    """Both tables laid over each other. A row that is in both, in the same order, keeps the number of the new one.

    An added row is called by its number in the new table ("+12"), a removed one by its number in the old ("−9"). Rows
    are equal if they lead from and to the same states on the same event past guards of the same names; a row that
    only changed its place is removed there and added here, because order is part of the contract.
    """
    rows: list[Row] = []
    names: dict[int, str] = {}
    added: set[int] = set()
    removed: set[int] = set()
    matcher = SequenceMatcher(None, [_key(row) for row in old], [_key(row) for row in new], autojunk=False)
    for _, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        same = [_key(row) for row in old[old_from:old_to]] == [_key(row) for row in new[new_from:new_to]]
        for number in () if same else range(old_from, old_to):
            rows.append(old[number])
            removed.add(len(rows))
            names[len(rows)] = f"−{number + 1}"
        for number in range(new_from, new_to):
            rows.append(new[number])
            names[len(rows)] = f"{number + 1}" if same else f"+{number + 1}"
            if not same:
                added.add(len(rows))
    return tuple(rows), Marks(added=frozenset(added), removed=frozenset(removed), names=names)


def _key(row: Row) -> tuple[str, ...]:
    return (row.source, row.event, row.target, *(guard.name for guard in row.guards))
