"""The table as a table: what the numbers in the pictures stand for."""

from fsm.graph import Graph
from states.names import State

from .marks import PLAIN, Marks
from .picture import numbers, picture


def legend(graph: Graph, marks: Marks = PLAIN, part: State | None = None) -> str:
    """Every row in order, as Markdown. Rows that stand out are bold. part: only rows that lead out of this state."""
    drawn = picture(graph, part)
    notes = {note.rows[0].number: note for note in drawn.anywhere}
    covered = {numbered.number for note in drawn.anywhere for numbered in note.rows}
    lines = ["| row | from | on | when | to |", "| --- | --- | --- | --- | --- |"]
    for number, row in enumerate(graph, 1):
        if number in notes:
            note = notes[number]
            strikes = any(numbered.number in marks.striking for numbered in note.rows)
            told = numbers(note.rows, marks)
            lines.append(_line(told, "every running state", note.event, "always", note.target, strikes=strikes))
        elif number not in covered and part in (None, row.source):
            when = ", ".join(f"`{guard.name}`" for guard in row.guards) or "always"
            told = f"{marks.name(number)} {marks.times(number)}".strip()
            lines.append(_line(told, row.source, row.event, when, row.target, strikes=number in marks.striking))
    return "\n".join(lines) + "\n"


def _line(*cells: str, strikes: bool) -> str:
    first, *rest = cells
    return f"| {' | '.join((f'**{first}**' if strikes else first, *rest))} |"
