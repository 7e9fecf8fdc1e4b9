"""The table as lines of text, for a terminal or a plain file."""

from fsm.graph import Graph
from states.names import State

from .checklist import Asks, Line, checklists
from .marks import PLAIN, Marks
from .picture import Kind, Numbered, Picture, Way, numbers, picture

_SIGNS = {Way.ONWARD: "→", Way.RETRY: "↩", Way.SUSPEND: "❚❚", Way.FAIL: "✗"}
_KINDS = {Kind.INITIAL: "start", Kind.END: "end", Kind.REST: "rest"}


def terminal(graph: Graph, marks: Marks = PLAIN, part: State | None = None) -> str:
    """A paragraph per state, a line per gate or fact: its rows with what they do and where they lead.

    Rows that stand out have a `*`; of two tables, `+` and `−`.
    """
    drawn = picture(graph, part)
    lines = [line for node in drawn.nodes for line in _state(drawn, node.state, node.kind, marks)]
    if drawn.anywhere:
        lines.append("every running state")
        lines += [
            f"  on {note.event}: {_row(note.rows[0], marks, numbers(note.rows, marks))}" for note in drawn.anywhere
        ]
        lines.append("")
    lines.append(f"{', '.join(f'{sign} {way}' for way, sign in _SIGNS.items())}; numbers are rows of the table")
    return "\n".join(lines) + "\n"


def _state(drawn: Picture, state: State, kind: Kind, marks: Marks) -> list[str]:
    about = [_KINDS[kind]] if kind in _KINDS else []
    about += [marks.spent[state]] if state in marks.spent else []
    about += [marks.stands] if state is marks.here else []
    found = [f"{state}  ({'; '.join(about)})" if about else str(state)]
    lists = checklists(drawn, state)
    wide = max((len(_name(line)) for checklist in lists for line in checklist.lines), default=0)
    for checklist in lists:
        found.append(f"  on {checklist.event}")
        for line in checklist.lines:
            rows = ", ".join(_row(numbered, marks, marks.name(numbered.number)) for numbered in line.rows)
            found.append(f"    {_name(line):<{wide}}  {rows}")
    return [*found, ""]


def _name(line: Line) -> str:
    return f"{line.name}?" if line.asks is Asks.FACT else line.name


def _row(numbered: Numbered, marks: Marks, told: str) -> str:
    strikes = "*" if marks.look(numbered.number) == "took" else ""
    times = marks.times(numbered.number)
    return f"{_SIGNS[numbered.way]} {numbered.row.target} {strikes}{told}{f' {times}' if times else ''}"
