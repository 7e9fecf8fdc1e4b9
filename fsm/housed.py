"""A toolbox that is made of others lives as they do."""

from collections.abc import Sequence

from states.living import Living
from states.ports import Toolbox


class Housed:
    """Implements `Living` for whatever has `parts`; those that do not live outside are left alone."""

    __slots__ = ()

    @property
    def parts(self) -> Sequence[Toolbox]:
        raise NotImplementedError

    @property
    def secrets(self) -> Sequence[str]:
        return tuple(secret for part in self._living for secret in part.secrets)

    async def open(self) -> None:
        for part in self._living:
            await part.open()

    async def refresh(self) -> None:
        for part in self._living:
            await part.refresh()

    async def leave(self, session: str) -> None:
        for part in self._living:
            await part.leave(session)

    async def close(self) -> None:
        for part in self._living:
            await part.close()

    @property
    def _living(self) -> list[Living]:
        return [part for part in self.parts if isinstance(part, Living)]
