"""The files of `diagrams/` and the block in the README: written, or compared byte for byte."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from fsm.graph import Graph
from states.names import State

from .dot import dot
from .legend import legend
from .markdown import markdown
from .mermaid import mermaid
from .svg import svg
from .terminal import terminal

BEGIN: Final = "<!-- loop:begin -->"
END: Final = "<!-- loop:end -->"

_README: Final = """# The loop

Written by `python -m fsm.draw` from the table in `fsm/graph.py`, and compared with it in CI: do not edit.

![The loop: every move that a run can make](loop.svg)

The same as [Mermaid](loop.mmd), as [DOT](loop.dot), as [lines of text](loop.txt), and as a
[piece of Markdown](loop.md) to include in a page. `interlock diagram` prints any of them, with `--session SESSION` the
way that a session took, with `--diff MODULE:NAME` what differs from another table.

Rows of one state and event are tried in order; the first whose guards all hold is taken. A *gate* is asked for a
ruling (passes, retries, suspends, fails); the other names are facts, which only look.

"""
_PARTS: Final = "One state and the rows that lead out of it:\n\n"


def render_all(graph: Graph) -> dict[str, bytes]:
    """Every file of `diagrams/`, by name."""
    sources = [state for state in State if any(row.source is state for row in graph)]
    parts = "".join(f"- [{state}]({state}.svg)\n" for state in sources)
    files = {
        "README.md": f"{_README}{legend(graph)}\n{_PARTS}{parts}",
        "loop.dot": dot(graph),
        "loop.mmd": mermaid(graph),
        "loop.svg": svg(graph),
        "loop.md": markdown(graph),
        "loop.txt": terminal(graph),
    }
    files |= {f"{state}.svg": svg(graph, part=state) for state in sources}
    return {name: text.encode() for name, text in files.items()}


def readme_block(graph: Graph) -> str:
    """What stands between the two marks in the README."""
    return f"""{BEGIN}
[![The loop: every move that a run can make](diagrams/loop.svg)](diagrams/README.md)

<details><summary>The same as Mermaid</summary>

```mermaid
{mermaid(graph)}```

</details>
{END}"""


def with_block(readme: str, block: str) -> str:
    """The README with this block in place of the old one; unchanged if it has no marks."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{block}{after}" if begin and end else readme


def rendered(graph: Graph, root: Path) -> dict[Path, bytes]:
    """Every file under `root` that shows the table, as it should be."""
    files = {root / "diagrams" / name: content for name, content in render_all(graph).items()}
    readme = root / "README.md"
    if readme.is_file():
        files[readme] = with_block(readme.read_bytes().decode(), readme_block(graph)).encode()
    return files


def write(files: Mapping[Path, bytes]) -> None:
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def stale(files: Mapping[Path, bytes]) -> list[Path]:
    """The files that are missing or differ."""
    return [path for path, content in files.items() if not path.is_file() or path.read_bytes() != content]
