"""Counts what an answer uses up while it is under way."""

from .messages import Usage
from .ports import Outside, Provider
from .records import Spent


class Meter:
    """What the answer under way has used up, as far as its provider said."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._model = ""

    def told(self, usage: Usage, model: str) -> None:
        self._usage, self._model = usage, model

    @property
    def usage(self) -> Usage:
        return self._usage

    def spent(self, world: Outside, provider: Provider) -> Spent | None:
        if self._usage == Usage():
            return None
        model = self._model or provider.model
        return Spent(self._usage, model, world.cost(model, self._usage))
