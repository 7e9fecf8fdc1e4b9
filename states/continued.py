"""Joins an answer that was cut off at the output limit to what the model said when it was asked to go on.

Models are told to go on where they stopped, and often begin with the last words once more. The journal keeps what was
received; only the text that is read as one answer is joined, and by a rule that takes nothing away which the model
may have meant.
"""

from collections.abc import Iterator
from typing import Final

SHORTEST: Final = 20
"""Characters that an overlap has at least (our choice: fewer agree by chance, such as "the" or a line of brackets)."""
DISTINCT: Final = 8
"""Different characters among them (our choice): rules, rows of zeros and indentation repeat themselves rightfully."""
FURTHEST: Final = 65_536
"""Characters back from the cut in which it may begin (our choice: about what one answer holds; it bounds the time)."""


def joined(before: str, after: str) -> str:
    """Both as one text, with the words once that end `before` and begin `after`.

    They are taken for a repetition if they are the longest such overlap, have at least SHORTEST characters, DISTINCT of
    them different, stand nowhere else in `before`, and do not repeat themselves: a text that does goes on doing so.
    Blank space at the beginning of `after` is no part of them. Anything else stays as it is.
    """
    said = after.lstrip()
    if len(set(said[:SHORTEST])) < DISTINCT:
        return before + after
    tail = before[-FURTHEST:]
    found = _overlaps(tail, said)
    longest, second = next(found, 0), next(found, 0)
    if longest == 0 or second * 2 >= longest or before.find(tail[-longest:]) < len(before) - longest:
        return before + after
    return before + said[longest:]


def _overlaps(tail: str, said: str) -> Iterator[int]:
    """Lengths of what ends `tail` and begins `said`, SHORTEST or longer, the longest first."""
    probe = said[:SHORTEST]
    at = tail.find(probe) if len(probe) == SHORTEST else -1
    while at >= 0:
        if said.startswith(tail[at:]):
            yield len(tail) - at
        at = tail.find(probe, at + 1)
