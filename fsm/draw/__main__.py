"""`python -m fsm.draw` writes this repository's diagrams; with `--check` it exits 1 if one is not current."""

import argparse
import sys
from pathlib import Path

from fsm.graph import GRAPH

from .write import rendered, stale, write


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 written or current, 1 stale."""
    parser = argparse.ArgumentParser(
        prog="python -m fsm.draw", description="Draw the table into diagrams/ and README.md."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is not current")
    parser.add_argument(
        "--root", type=Path, default=Path(), help="folder that has diagrams/ (default: the current one)"
    )
    given = parser.parse_args(arguments)
    files = rendered(GRAPH, given.root)
    differing = stale(files)
    if not given.check:
        write({path: files[path] for path in differing})
    for path in differing:
        sys.stderr.write(f"{path} {'is not current: run python -m fsm.draw' if given.check else 'written'}\n")
    return 1 if given.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
