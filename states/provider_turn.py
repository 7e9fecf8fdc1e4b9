"""provider_turn: the model is asked for its next turn, with everything that is durable and nothing else."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

import attrs

from .compaction import compact
from .context import due
from .deferred import sent
from .errors import InterlockError
from .fallback import replacement
from .history import History
from .living import Living
from .messages import Block, Call
from .meter import Meter
from .names import Event
from .plan import offered
from .ports import CallReady, Outcome, ProviderTrouble, Reply, Request, RetryNotice, Run, ToolSpec
from .prestart import Line, lost
from .records import AssistantTurn, Record, Spent, Trouble, TurnDiscarded, TurnFailure

PAUSE: Final = 0.5
"""Seconds before an answer that broke off is asked for again; doubled each time, up to `LONGEST` (our choice)."""
LONGEST: Final = 8.0


async def act(run: Run) -> Outcome:
    """Ask once, in a conversation that fits. The answer, or why there is none, is the outcome; deltas are shown."""
    world = await run.outside(*lost(run.history), *await run.inputs())
    history = run.history
    if isinstance(world.tools, Living):
        await world.tools.refresh()
    try:
        if (cause := due(history)) is not None:
            await run.commit(*await compact(run, world, cause))
    except ProviderTrouble as trouble:
        return _failed(trouble, history, None)
    meter = Meter()
    request = attrs.evolve(request_of(history, world.tools.specs), told=meter.told)
    saw = history.seq
    if history.trouble is not None and history.cuts:
        pause = min(LONGEST, PAUSE * 2 ** (history.cuts - 1))
        run.show(RetryNotice(history.cuts, pause, history.trouble.message))
        await world.clock.sleep(pause)
        await world.confirm()  # somebody else may have taken the session over meanwhile
    provider = world.providers[history.provider]
    async with Line(run, world) as line:
        try:
            async with aclosing(provider.stream(request)) as stream:
                async for item in stream:
                    if isinstance(item, Reply):
                        meter.told(item.usage, item.model)
                        cost = world.cost(item.model or provider.model, item.usage)
                        return Outcome(await line.turn(turn_of(item, history, saw, cost)), Event.REPLIED)
                    if isinstance(item, CallReady):
                        line.offer(item)
                    else:
                        run.show(item)
        except ProviderTrouble as trouble:
            return _failed(trouble, history, meter.spent(world, provider), await line.drop(trouble.message))
        except asyncio.CancelledError:
            run.give_up(meter.spent(world, provider))
            raise
    raise InterlockError("the provider adapter ended its stream without a Reply and without ProviderTrouble")


def _failed(
    trouble: ProviderTrouble, history: History, spent: Spent | None, dropped: tuple[Record, ...] = ()
) -> Outcome:
    failure = TurnFailure(trouble.trouble, trouble.message, trouble.status, history.epoch, spent)
    ended = given_up(failure, history, history.epoch + len(dropped))
    return Outcome((*dropped, *ended, failure), Event.TURN_FAILED)


def request_of(history: History, tools: Sequence[ToolSpec]) -> Request:
    """The next request: pure, so that a repeated turn repeats it to the byte."""
    tools = sent(offered(history.permission, tools), history.loaded)
    known = {tool.name for tool in tools}
    require = history.require_tool if history.require_tool in known else None
    return Request(history.system, history.messages, tools, require, history.session)


def turn_of(reply: Reply, history: History, saw: int, cost: float | None = None) -> AssistantTurn:
    """The reply as a record: its calls get ids of our own, since providers repeat theirs."""
    blocks: list[Block] = []
    order = 0
    for block in reply.blocks:
        if isinstance(block, Call):
            blocks.append(attrs.evolve(block, id=history.call_id(order)))
            order += 1
        else:
            blocks.append(block)
    return AssistantTurn(
        tuple(blocks), reply.finish, saw, reply.model, reply.usage, history.epoch, reply.finish_detail, cost
    )


def given_up(failure: TurnFailure, history: History, epoch: int) -> tuple[Record, ...]:
    """What ends `epoch`, where part of an answer was seen or another provider is asked: nothing of it comes back."""
    cut = (TurnDiscarded(epoch + 1, failure.message),) if failure.trouble is Trouble.CUT else ()
    change = replacement(history, failure, epoch + len(cut))
    return cut if change is None else (*cut, change)
