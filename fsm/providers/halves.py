"""Characters that a server cut in two: one half of a surrogate pair in one delta, the other in the next."""

from collections.abc import Iterable

import attrs

from states.messages import Block, Call, Reasoning, Text
from states.ports import CallReady, ReasoningDelta, Reply, TextDelta

from .fold import Delta
from .json_in import joined_halves


class Halves:
    """Deltas as they can be shown: a first half waits for the second, of words and of thinking apart."""

    def __init__(self) -> None:
        self._waiting: dict[type[Delta], str] = {}

    def joined(self, deltas: Iterable[Delta]) -> list[Delta]:
        """Without calls: their text is mended with the whole answer only."""
        shown: list[Delta] = []
        for delta in deltas:
            if isinstance(delta, CallReady):
                continue
            kind: type[TextDelta | ReasoningDelta] = type(delta)
            text = self._waiting.pop(kind, "") + delta.text
            if "\ud800" <= text[-1:] <= "\udbff":
                self._waiting[kind], text = text[-1], text[:-1]
            if text:
                shown.append(kind(joined_halves(text)))
        return shown


def mended(reply: Reply) -> Reply:
    """The answer with its characters whole. In arguments a lone half stays what it is, so that they are refused."""
    return attrs.evolve(reply, blocks=tuple(map(_mended, reply.blocks)))


def _mended(block: Block) -> Block:
    match block:
        case Text() | Reasoning():
            return attrs.evolve(block, text=joined_halves(block.text))
        case Call():
            return attrs.evolve(block, arguments=joined_halves(block.arguments, lost="surrogatepass"))
        case _:
            return block
