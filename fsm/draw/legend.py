"""The table as a table: what the numbers in the pictures stand for."""

from fsm.graph import Graph

from .picture import Numbered, numbers, picture


def legend(graph: Graph, taken: frozenset[int] = frozenset()) -> str:
    """Every row in order, as Markdown. `taken`: numbers of rows that a session took; they are bold."""
    drawn = picture(graph)
    notes = {note.rows[0].number: note for note in drawn.anywhere}
    covered = {numbered.number for note in drawn.anywhere for numbered in note.rows}
    lines = ["| row | from | on | when | to |", "| --- | --- | --- | --- | --- |"]
    for number, row in enumerate(graph, 1):
        if number in notes:
            note = notes[number]
            took = any(numbered.number in taken for numbered in note.rows)
            lines.append(_line(numbers(note.rows), "every running state", note.event, "always", note.target, took=took))
        elif number not in covered:
            when = ", ".join(f"`{guard.name}`" for guard in row.guards) or "always"
            lines.append(
                _line(numbers((Numbered(number, row),)), row.source, row.event, when, row.target, took=number in taken)
            )
    return "\n".join(lines) + "\n"


def _line(*cells: str, took: bool) -> str:
    first, *rest = cells
    return f"| {' | '.join((f'**{first}**' if took else first, *rest))} |"
