"""Command lines to go on with, ready to be copied."""

import shlex
from pathlib import Path

from fsm.config import Settings
from fsm.setup import STATE_DIR


def command(settings: Settings, *words: str) -> str:
    """`interlock WORDS…`, with the flags that lead to this journal from here."""
    here = Path.cwd()
    elsewhere = settings.workspace.resolve() != here
    default = Path(settings.workspace, STATE_DIR, "journal.db")
    flags = ["--workspace", str(settings.workspace)] if elsewhere else []
    if Path(settings.journal).resolve() != default.resolve():
        flags += ["--journal", settings.journal]
    return shlex.join(["interlock", *words, *flags])
