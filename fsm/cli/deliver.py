"""Where a command's bytes go: to a file, or to standard output."""

import sys
from collections.abc import Callable
from pathlib import Path

from states.errors import ConfigError


def deliver(body: bytes, output: str | None, write: Callable[[Path, bytes], object] = Path.write_bytes) -> int:
    """Put `body` into the file `output`, by `write`, or on standard output. Returns the exit status.

    Raises ConfigError for a file that cannot be written.
    """
    if output is None:
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
        return 0
    try:
        write(Path(output), body)
    except OSError as error:
        raise ConfigError(f"--output: {output!r} cannot be written: {error}") from error
    return 0
