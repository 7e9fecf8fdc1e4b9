"""Text of strangers, made harmless to look at: what could steer a terminal or reorder a line is written out."""

import re
from typing import Final

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)
"""Controls (C0 without tab and line feed, DEL, C1), bidirectional marks and overrides, halves of characters, and what
is there without being seen (zero-width spaces, tags); joiners stay, since scripts and emoji need them."""


def visible(text: str) -> str:
    r"""The text with everything that could steer a terminal written out, such as `\x1b`."""
    return _UNSAFE.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str, width: int = 100) -> str:
    """The text on one line of at most `width` characters."""
    line = " ".join(visible(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"
