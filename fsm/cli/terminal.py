"""Where words go: the answer to standard output, everything else to standard error, escapes made visible."""

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

from fsm.visible import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["errors", "give_up_stdout", "one_line", "out", "say", "visible"]


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
