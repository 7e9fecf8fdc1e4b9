"""Command lines to go on with, ready to be copied."""

import shlex
from pathlib import Path

from fsm.config import Origin, Settings
from fsm.setup import STATE_DIR
from states.contract import Permission


def unasked(settings: Settings) -> list[str]:
    """What a file of the workspace, which may be somebody else's, lets run without asking."""
    said = []
    if settings.permission is Permission.FULL and settings.permission_from is Origin.FILE:
        said.append("interlock.toml says permission = full: tools run without asking")
    if settings.rules_from_file.allow:
        said.append(f"interlock.toml lets run without asking: {', '.join(settings.rules_from_file.allow)}")
    return said


def command(settings: Settings, *words: str) -> str:
    """`interlock WORDS…`, with the flags that lead to this journal from here."""
    here = Path.cwd()
    elsewhere = settings.workspace.resolve() != here
    default = Path(settings.workspace, STATE_DIR, "journal.db")
    flags = ["--workspace", str(settings.workspace)] if elsewhere else []
    if Path(settings.journal).resolve() != default.resolve():
        flags += ["--journal", settings.journal]
    return shlex.join(["interlock", *words, *flags])
