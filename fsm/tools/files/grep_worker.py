"""The other process of grep: reads files from stdin, prints matching lines. Uses the standard library alone."""

import re
import struct
import sys
from typing import BinaryIO, Final, TextIO

HEADER: Final = struct.Struct(">II")
"""Before each file: the length of its name and of its content, in bytes. Both follow."""
BAD_PATTERN: Final = 3
FULL: Final = 4
"""Exit statuses: the first line printed is the error; there is no room for more."""
MATCHES: Final = 1_000
ROOM: Final = 90_000
"""Lines and characters of one answer: our choice, within what the model is shown."""
LINE: Final = 300
"""Characters of a matching line that are shown."""


def main(pattern: str, source: BinaryIO, answer: TextIO) -> int:
    """Search every file in `source`; matching lines go to `answer`. Returns the exit status."""
    try:
        search = re.compile(pattern).search
    except (re.error, OverflowError, RecursionError) as error:
        answer.write(str(error).replace("\n", " ") + "\n")
        return BAD_PATTERN
    matches, room = 0, ROOM
    while header := source.read(HEADER.size):
        name_length, length = HEADER.unpack(header)
        name = source.read(name_length).decode()
        lines = source.read(length).decode("utf-8", "backslashreplace").split("\n")
        for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
            if not search(line.removesuffix("\r")):
                continue
            shown = "".join(c if c.isprintable() or c == "\t" else " " for c in line[:LINE].rstrip("\r"))
            found = f"{name}:{number}:{shown}"
            matches, room = matches + 1, room - len(found) - 1
            if matches > MATCHES or room < 0:
                return FULL
            answer.write(found + "\n")
            answer.flush()  # we may be killed at any time
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]  # a text stream
    sys.exit(main(sys.argv[1], sys.stdin.buffer, sys.stdout))
