"""How long an answer may go on without growing, whatever its server sends to be taken for alive."""

import asyncio

from .answer import Answer


class Growth:
    """Of one answer: bytes that add nothing to it are believed for `progress` seconds, and for `grace` after its end.

    Whether it grew is looked at once in `progress` seconds, so that reading a stream stays cheap: what stalls is given
    up after one to two times that.
    """

    def __init__(self, answer: Answer, progress: float, grace: float) -> None:
        self._answer = answer
        self._progress = progress
        self._grace = grace
        self._now = asyncio.get_running_loop().time
        self._pieces = 0
        self._until = self._now() + progress
        self._end: float | None = None

    def stalled(self) -> bool:
        """It is time to give it up."""
        if self._now() < self._until:
            return False
        before, self._pieces = self._pieces, self._answer.pieces
        self._until = self._now() + self._progress
        return self._pieces == before

    def grace_left(self) -> float:
        """Seconds for what may follow the end, which was told: usage, and the end mark."""
        if self._end is None:
            self._end = self._now() + self._grace
        return max(0.0, self._end - self._now())
