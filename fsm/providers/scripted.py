"""A provider without a wire: turns written down beforehand, for tests and demonstrations."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs
import orjson

from states.messages import Block, Call, Finish, Reasoning, Text, Usage
from states.ports import CallReady, ProviderTrouble, ReasoningDelta, Reply, Request, StreamItem, TextDelta
from states.records import JSON, Trouble

Turn = Reply | ProviderTrouble | Callable[[Request], Reply | ProviderTrouble]

USAGE: Final = Usage(input=10, output=5)
"""What a scripted turn claims to have cost."""


def says(text: str, finish: Finish = Finish.STOP) -> Reply:
    """A turn in words."""
    return Reply((Text(text),), finish, USAGE, "scripted", finish.value)


def asks_for(*calls: tuple[str, Mapping[str, JSON] | str], text: str = "") -> Reply:
    """A turn with tool calls: (name, arguments), where arguments that are a string are sent as they stand."""
    blocks: list[Block] = [Text(text)] if text else []
    for number, (name, arguments) in enumerate(calls):
        sent = arguments if isinstance(arguments, str) else orjson.dumps(dict(arguments)).decode()
        blocks.append(Call("", name, sent, f"scripted_{number}"))
    return Reply(tuple(blocks), Finish.CALLS, USAGE, "scripted", "tool_calls")


class Scripted:
    """A `Provider` that gives one turn after the other, whatever is asked. `requests` keeps what was asked.

    A turn is a Reply, a ProviderTrouble to raise, or a function of the request that returns either. When there are
    no more turns, the next request is REFUSED.
    """

    def __init__(self, turns: Iterable[Turn], model: str = "scripted") -> None:
        self._turns = list(turns)
        self._model = model
        self.requests: list[Request] = []

    @property
    def model(self) -> str:
        return self._model

    @property
    def secrets(self) -> Sequence[str]:
        return ()

    async def close(self) -> None:
        """Nothing is open."""

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem]:
        place = len(self.requests)
        self.requests.append(attrs.evolve(request, messages=tuple(request.messages)))  # the list goes on growing
        if place >= len(self._turns):
            raise ProviderTrouble(Trouble.REFUSED, f"the script has only {len(self._turns)} turns")
        await asyncio.sleep(0)
        turn = self._turns[place]
        answer = turn(request) if callable(turn) else turn
        if isinstance(answer, ProviderTrouble):
            raise answer
        order = 0
        for block in answer.blocks:
            if isinstance(block, Call):
                yield CallReady(order, block)
                order += 1
            elif isinstance(block, Text):
                yield TextDelta(block.text)
            elif isinstance(block, Reasoning):
                yield ReasoningDelta(block.text)
        yield answer
