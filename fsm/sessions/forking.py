"""A fork: a new session that begins with a copy of another one's entries, up to a point, and says so.

The copies keep their numbers, so that every record still names what it named. What the origin had started stays the
origin's: here it is answered as unknown, and never run again.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from fsm.journal.chain import genesis, link
from states.codec import decode, encode, kind_of
from states.errors import ConfigError
from states.fold import apply
from states.history import History
from states.ports import Stored
from states.records import Baseline, Entry, Forked, Record, Understood

CLINGING: Final = (Understood, Baseline)
"""Records that belong to the one before them: no point lies between."""


@attrs.frozen
class Branch:
    """`entries` of a fork, and the highest number of a note or follow-up among them."""

    entries: tuple[Stored, ...]
    noted: int


def branch(session: str, entries: Sequence[Stored], at: int | None, now: float) -> Branch:
    """The entries of a fork of `session` at record `at` (None: its last point), the last of which is `Forked`.

    Raises ConfigError, naming the points that there are, and HistoryError.
    """
    points, at_point = _points(session, entries, at)
    if at_point is None:
        raise ConfigError(_no_point(session, len(entries), at, points))
    place = points[-1]
    last = entries[place - 1]
    forked = Forked(session, place, last.digest.hex())
    mark = Stored(place + 1, last.fence + 1, kind_of(forked), now, encode(forked))
    return Branch((*entries[:place], mark), max(at_point.noted, at_point.queued))


def _points(session: str, entries: Sequence[Stored], at: int | None) -> tuple[list[int], History | None]:
    """Points up to `at`, and the history there; without one there, the next point stands last and there is none."""
    history, points = History(session), list[int]()
    records = [decode(entry.body) for entry in entries]
    for entry, record, following in zip(entries, records, (*records[1:], None), strict=True):
        apply(history, Entry(entry.seq, entry.at, entry.fence, record))
        if not _is_point(history, following):
            continue
        points.append(entry.seq)
        if at is not None and entry.seq >= at:
            return points, history if entry.seq == at else None
    return points, history if at is None and points else None


def _is_point(history: History, following: Record | None) -> bool:
    """Nothing is half done there: no move is due, and the model has something to go by."""
    return not history.closing and bool(history.messages or history.held) and not isinstance(following, CLINGING)


def _no_point(session: str, last: int, at: int | None, points: list[int]) -> str:
    if not points:
        return f"nothing was said in session {session!r} yet: there is nothing to fork"
    if at is None or not 1 <= at <= last:
        return f"session {session!r} has records 1 to {last}; {at} is none of them"
    near = " or ".join(str(point) for point in points[-2:])
    return f"record {at} of session {session!r} is in the middle of a step; fork at {near}"


def unproven(entries: Sequence[Stored]) -> list[str]:
    """Forks whose copied entries are not what the origin's chain had: a sentence for each."""
    found: list[str] = []
    for entry in entries:
        if entry.kind != kind_of(Forked("", 0, "")):
            continue
        record = decode(entry.body)
        if isinstance(record, Forked) and _head(record.origin, entries[: record.at]) != record.digest:
            found.append(f"record {entry.seq}: what stands before it is not what session {record.origin!r} had")
    return found


def _head(session: str, entries: Sequence[Stored]) -> str:
    digest = genesis(session)
    for entry in entries:
        digest = link(digest, entry.seq, entry.fence, kind=entry.kind, at=entry.at, body=entry.body)
    return digest.hex()
