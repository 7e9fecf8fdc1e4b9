"""Text of strangers, made harmless to look at: what could steer a terminal or reorder a line is written out."""

import re
from typing import Final

_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls (C0 without tab and line feed, DEL, C1), bidirectional marks and overrides, and halves of characters."""


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
