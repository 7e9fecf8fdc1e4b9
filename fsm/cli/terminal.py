"""Where words go: the answer to standard output, everything else to standard error, escapes made visible."""

import os
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls (C0 without tab and line feed, DEL, C1), bidirectional overrides, and halves of characters."""


def visible(text: str) -> str:
    r"""The text with everything that could steer a terminal written out, such as `\x1b`."""
    return _UNSAFE.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str, width: int = 100) -> str:
    """The text on one line of at most `width` characters."""
    line = " ".join(visible(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"


@cache
def errors() -> "Console":
    """Standard error. Nothing that is printed there is read as markup."""
    from rich.console import Console

    return Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)


def say(text: str, style: str = "") -> None:
    """A line for a person."""
    errors().print(visible(text), style=style)


def out(text: str) -> None:
    """A line of the command's answer."""
    try:
        print(visible(text), flush=True)
    except UnicodeEncodeError:  # a terminal that is not Unicode
        encoding = sys.stdout.encoding or "ascii"
        print(visible(text).encode(encoding, "backslashreplace").decode(encoding), flush=True)


def give_up_stdout() -> None:
    """Nobody reads standard output any more: what is still buffered goes nowhere, without a complaint at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
