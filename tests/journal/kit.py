"""What the tests of the journal share: entries of a known size, and Python in a process of its own."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TypeVar

from states.codec import encode, kind_of
from states.ports import Claim, Draft
from states.records import Entry, Record, UserInput

T = TypeVar("T")
ROOT = Path(__file__).parents[2]


def run(main: Coroutine[object, object, T]) -> T:
    return asyncio.run(main)


def draft(claim: Claim, record: Record, *, ahead: int = 0, at: float = 1.5, seals: int | None = None) -> Draft:
    """An entry `ahead` places after the claim's next."""
    entry = Entry(claim.next_seq + ahead, at, claim.fence, record)
    return Draft(entry, kind_of(record), encode(record), seals)


def batch(claim: Claim, *texts: str, seals: int | None = None) -> list[Draft]:
    """One input record for each text; `seals` goes with the last."""
    last = len(texts) - 1
    return [draft(claim, UserInput(t), ahead=i, seals=seals if i == last else None) for i, t in enumerate(texts)]


def texts(entries: list[Entry]) -> list[str]:
    return [entry.record.text for entry in entries if isinstance(entry.record, UserInput)]


def python(code: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    """Start Python on `code` with our modules and `arguments` in sys.argv[1:]; its output is a pipe."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        **options,
    )
