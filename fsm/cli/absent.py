"""A provider for commands that ask no model anything."""

import os
from collections.abc import AsyncGenerator, Sequence

from fsm.config import DIALECTS
from states.ports import ProviderTrouble, Request, TextDelta
from states.records import Trouble


class Absent:
    """A `Provider` that is never asked; were it asked, it would refuse."""

    @property
    def model(self) -> str:
        return ""

    @property
    def secrets(self) -> Sequence[str]:
        """Keys that may stand in the environment: what a person types may contain one."""
        return [os.environ[dialect.key] for dialect in DIALECTS.values() if os.environ.get(dialect.key)]

    async def stream(self, request: Request) -> AsyncGenerator[TextDelta]:
        raise ProviderTrouble(Trouble.REFUSED, "this command asks no model")
        yield TextDelta("")

    async def close(self) -> None:
        """Nothing is open."""
