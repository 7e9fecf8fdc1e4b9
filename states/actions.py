"""Standing still: whether a run's batches of calls repeat, with the same results, alone or in a cycle."""

import hashlib
import re
from collections.abc import Iterable
from typing import Final

import attrs

from .records import ToolResult

LONGEST_CYCLE: Final = 4
"""Batches in the longest cycle that is seen (A-B-C-D-A-B-C-D)."""
_VOLATILE: Final = re.compile(
    r"""\d(?<!\w\d)(?:                      # all begin with a digit, at the beginning of a word
      \d{3}-\d\d-\d\d(?:[T ][\d:.,+Z-]*)?   # dates
    | \d?:\d\d(?::\d\d)?(?:[.,]\d+)?\b      # times of day and durations
    | \d*(?:[.,]\d+)?\s*(?:[mµun]?s|secs?|seconds?|minutes?|min)\b
    | (?<=0)x[0-9a-fA-F]+\b                 # addresses
    )""",
    re.VERBOSE,
)
"""What differs between two runs of the same thing and is no progress. A digit comes first: the search skips to one."""


@attrs.frozen
class Actions:
    """The last batches, and how many in a row repeated the one that many places before."""

    recent: tuple[bytes, ...] = ()
    repeats: tuple[int, ...] = (0,) * LONGEST_CYCLE

    def after(self, batch: bytes) -> "Actions":
        """With one more batch, given by its digest."""
        repeats = tuple(
            repeated + 1 if period <= len(self.recent) and self.recent[-period] == batch else 0
            for period, repeated in enumerate(self.repeats, 1)
        )
        return Actions((*self.recent, batch)[-LONGEST_CYCLE:], repeats)

    @property
    def still(self) -> int:
        """Batches in a row that brought nothing new, the first of its kind included; 0 before the first."""
        return 1 + max(self.repeats) if self.recent else 0


def batch_digest(calls: Iterable[tuple[str, str, ToolResult]]) -> bytes:
    """Equal for batches with the same names, canonical arguments and results, in the same order.

    A result is its status, its words without times and addresses, its pictures, the workspace that it left,
    and `progress` in its metadata: how far something that still goes on has come.
    """
    digest = hashlib.blake2b(digest_size=16)
    for name, arguments, result in calls:
        parts = [name, arguments, result.status, _VOLATILE.sub("~", result.output)]
        parts += [image.data for image in result.images]
        parts += [str(result.metadata.get(name, "")) for name in ("revision_after", "progress")]
        for part in parts:
            encoded = part.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.digest()
