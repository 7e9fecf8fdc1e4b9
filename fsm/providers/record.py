"""Writes down what a provider answers, so that it can be played again without it."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from fsm.redact import Redactor
from states.ports import Provider, ReasoningDelta, Reply, Request, StreamItem, TextDelta

from .cassette import FORMAT, VERSION, Delta, Header, Turn, line, place_of, read


class Recorder:
    """A `Provider` that passes another one through and appends each whole turn to the cassette at `path`.

    A cassette that exists is continued. Secrets of the provider are masked. Turns that end in trouble are not kept.
    Raises BadCassette if the file is something else.
    """

    def __init__(self, provider: Provider, path: Path | str) -> None:
        self._provider = provider
        self._path = Path(path)
        self._redactor = Redactor(provider.secrets)
        if self._path.exists() and self._path.stat().st_size:
            read(self._path)
        else:
            self._append(Header(FORMAT, VERSION, provider.model))

    @property
    def model(self) -> str:
        return self._provider.model

    @property
    def secrets(self) -> Sequence[str]:
        return self._provider.secrets

    async def close(self) -> None:
        await self._provider.close()

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem]:
        place = place_of(request)
        deltas: list[Delta] = []
        items = self._provider.stream(request)
        try:
            async for item in items:
                if isinstance(item, Reply):
                    self._append(Turn(*place, self._masked(deltas), item))
                elif isinstance(item, TextDelta | ReasoningDelta):
                    deltas.append(item)
                yield item
        finally:
            if isinstance(items, AsyncGenerator):
                await items.aclose()

    def _masked(self, deltas: Sequence[Delta]) -> tuple[Delta, ...]:
        """The deltas without secrets, even where one is spread over several."""
        streams = {kind: self._redactor.stream() for kind in (ReasoningDelta, TextDelta)}
        masked: list[Delta] = [type(delta)(streams[type(delta)].feed(delta.text)) for delta in deltas]
        masked += [kind(stream.rest()) for kind, stream in streams.items()]
        return tuple(delta for delta in masked if delta.text)

    def _append(self, value: Header | Turn) -> None:
        with self._path.open("ab") as file:
            file.write(self._redactor.body(line(value)))
