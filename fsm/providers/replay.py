"""Plays recorded turns: the same run again, without a network."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path

from states.ports import ProviderTrouble, ReasoningDelta, Reply, Request, RetryNotice, TextDelta
from states.records import Trouble

from .cassette import BadCassette, Header, Turn, place_of, read


class Replay:
    """A `Provider` that plays the cassette at `path`.

    The number of answers in the request decides which turn is played, so that a resumed run continues where it was;
    among several recordings of that turn, one that answered the same words is preferred, then the newest.
    `pacing` is the seconds before each delta. A bad file and a missing turn are REFUSED.
    """

    def __init__(
        self, path: Path | str, *, pacing: float = 0.0, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._path = Path(path)
        self._pacing = pacing
        self._sleep = sleep
        self._cassette: tuple[Header, list[Turn]] | None = None

    @property
    def model(self) -> str:
        """The recorded model's name; "replay" if the file cannot be read."""
        try:
            return self._read()[0].model
        except BadCassette:
            return "replay"

    @property
    def secrets(self) -> Sequence[str]:
        return ()

    async def close(self) -> None:
        """Nothing is open."""

    async def stream(self, request: Request) -> AsyncGenerator[TextDelta | ReasoningDelta | RetryNotice | Reply]:
        turn = self._turn(request)
        for delta in turn.deltas:
            await self._sleep(self._pacing)
            yield delta
        yield turn.reply

    def _turn(self, request: Request) -> Turn:
        try:
            turns = self._read()[1]
        except BadCassette as error:
            raise ProviderTrouble(Trouble.REFUSED, str(error)) from None
        number, digest = place_of(request)
        recorded = [turn for turn in turns if turn.turn == number]
        if not recorded:
            raise ProviderTrouble(
                Trouble.REFUSED,
                f"the cassette {self._path} has no turn {number + 1} (it holds {len(turns)}); record it with --record",
            )
        return next((turn for turn in reversed(recorded) if turn.request == digest), recorded[-1])

    def _read(self) -> tuple[Header, list[Turn]]:
        if self._cassette is None:
            self._cassette = read(self._path)
        return self._cassette
