"""`python -m benchmarks turns|syncs|bytes|resume|sessions|imports|prestart|all [--rounds N]`."""

import argparse
from typing import Final

from . import imports, prestart, resume, sessions, size, syncs, turns
from .figures import publish
from .processes import bench

MEASURES: Final = {
    "turns": turns.measure,
    "syncs": syncs.measure,
    "bytes": size.measure,
    "resume": resume.measure,
    "sessions": sessions.measure,
    "imports": imports.measure,
    "prestart": prestart.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("measure", choices=[*MEASURES, "all"])
    parser.add_argument("--rounds", type=int, default=3, help="how often each thing is run (default 3)")
    given = parser.parse_args()
    with bench() as shared:
        for name, measure in MEASURES.items():
            if given.measure in (name, "all"):
                publish(name, measure(shared, given.rounds))


if __name__ == "__main__":
    main()
