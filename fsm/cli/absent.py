"""A provider for commands that ask no model anything."""

from collections.abc import AsyncGenerator, Sequence

from states.ports import ProviderTrouble, Request, TextDelta
from states.records import Trouble


class Absent:
    """A `Provider` that is never asked; were it asked, it would refuse."""

    @property
    def model(self) -> str:
        return ""

    @property
    def secrets(self) -> Sequence[str]:
        return ()

    async def stream(self, request: Request) -> AsyncGenerator[TextDelta]:
        raise ProviderTrouble(Trouble.REFUSED, "this command asks no model")
        yield TextDelta("")

    async def close(self) -> None:
        """Nothing is open."""
