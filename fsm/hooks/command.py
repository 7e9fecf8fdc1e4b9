"""Runs one hook command: JSON in, an exit status and text out, and nothing of it is left behind."""

import asyncio
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

SHOWN: Final = 10_000
"""Characters of a hook's words that are kept (our choice: they are for the model, beside the tool's own)."""
_READ: Final = 1_048_576
"""Bytes of one output that are read: a hook that prints more has failed."""


async def run_command(command: str, said: bytes, directory: str, hidden: Iterable[str]) -> tuple[int, str, str]:
    """Exit status, standard output, standard error. On cancellation its process group is killed first."""
    environment = {name: value for name, value in os.environ.items() if name not in set(hidden)}
    environment |= {"CLAUDE_PROJECT_DIR": directory, "INTERLOCK_PROJECT_DIR": directory}
    process = await asyncio.create_subprocess_exec(
        *("/bin/bash", "--norc", "--noprofile", "-c", command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=directory,
        env=environment,
        start_new_session=True,
        limit=_READ,
    )
    try:
        printed, complained = await process.communicate(said)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return process.returncode or 0, _text(printed), _text(complained)


def _text(said: bytes) -> str:
    return said[:_READ].decode("utf-8", "backslashreplace").replace("\0", "\\x00")
