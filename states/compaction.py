"""Compacts a conversation: a model call of its own writes a ledger, and a checkpoint is committed before it counts.

It fails closed: without a ledger the conversation stays as it is, until the third failure in a row, or a request that
does not fit; then an outline is made without the model.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

import attrs

from .context import TRIM, Plan, boundary, estimate, is_long, plan, tokens_of, trimmed
from .deferred import sent
from .history import History
from .ledger import INSTRUCTION, missing, note, outline, transcript
from .messages import Finish, Message, ToolMessage, Usage, UserMessage, calls_of, text_of
from .meter import Meter
from .plan import offered
from .ports import CompactionNotice, Outside, Provider, ProviderTrouble, Reply, Request, RetryNotice, Run, ToolSpec
from .records import Cause, Compaction, CompactionFailure, How, Record, Spent, Trouble

FAILURES: Final = 3
"""Failures in a row after which an outline has to do (blade-code's and claw-code's limit)."""


async def compact(run: Run, world: Outside, cause: Cause) -> tuple[Record, ...]:
    """Records that compact the conversation, or say why it could not be; nothing where there is nothing to gain.

    Raises ProviderTrouble if the provider is down: that is the turn's trouble, and none of the compaction.
    """
    history = run.history
    wanted = plan(history, cause)
    if wanted is None:
        return ()
    if not wanted.cut:
        return (checkpoint(history, wanted, cause, How.TRIMMED),)
    run.show(CompactionNotice(cause))
    request = request_for_ledger(history, wanted, cause, world.tools.specs)
    meter, provider = Meter(), world.providers[history.provider]
    try:
        reply = await _asked(run, provider, request, meter)
        if calls_of(reply.blocks):
            reply = await _asked(run, provider, without_tools(request), meter)
        text, why = text_of(reply.blocks), objection(reply, history.messages[: wanted.cut])
    except ProviderTrouble as trouble:
        if trouble.trouble is Trouble.DOWN and meter.spent(world, provider) is None:
            raise
        text, why = "", trouble.message
    except asyncio.CancelledError:
        run.give_up(meter.spent(world, provider))
        raise
    spent = meter.spent(world, provider) or Spent(Usage())
    if why is None:
        made = checkpoint(history, wanted, cause, How.LEDGER, text)
        return (attrs.evolve(made, usage=spent.usage, model=spent.model, cost=spent.cost),)
    failure = CompactionFailure(cause, why, spent.usage, spent.model, spent.cost)
    if cause is Cause.OVERFLOW or history.compaction_failures + 1 >= FAILURES:
        outlined = outline(history.messages[: wanted.cut])
        return (failure, checkpoint(history, wanted, cause, How.OUTLINE, outlined))
    return (failure,)


async def _asked(run: Run, provider: Provider, request: Request, meter: Meter) -> Reply:
    before = meter.usage  # of a request before this one
    counted = attrs.evolve(request, told=lambda usage, model: meter.told(before + usage, model))
    async with aclosing(provider.stream(counted)) as stream:
        async for item in stream:
            if isinstance(item, Reply):
                meter.told(before + item.usage, item.model)
                return item
            if isinstance(item, RetryNotice):
                run.show(item)
    raise ProviderTrouble(Trouble.CUT, "the stream ended without a reply")


def objection(reply: Reply, dropped: Sequence[Message]) -> str | None:
    """Why a reply is no ledger; None if it is one."""
    text = text_of(reply.blocks)
    if calls_of(reply.blocks):
        return "the model called a tool instead of writing the ledger"
    if reply.finish is not Finish.STOP or not text.strip():
        return f"the ledger is not whole ({reply.finish_detail or reply.finish})"
    if lacks := missing(text):
        return f"the ledger lacks the heading {lacks[0]!r}"
    if estimate([UserMessage(text)]) > max(estimate(dropped), 500):
        return "the ledger is longer than what it stands for"
    return None


def request_for_ledger(history: History, wanted: Plan, cause: Cause, tools: Sequence[ToolSpec]) -> Request:
    """The conversation as the provider has it cached, up to the cut, and the instruction.

    Where a request did not fit, old output is shortened, and the oldest turns are left out until half of it is left.
    """
    head = history.messages[: wanted.cut]
    if cause is Cause.OVERFLOW:
        head = _fitted(head, tokens_of(history) // 2)
    asked = [*head, UserMessage(INSTRUCTION)]
    sends = sent(offered(history.permission, tools), history.loaded)
    return Request(history.system, asked, sends, None, history.session)


def without_tools(request: Request) -> Request:
    """The same for a model that calls a tool although it is told not to: it is offered none, and reads a transcript."""
    told = f"{transcript(request.messages[:-1])}\n\n---\n\n{INSTRUCTION}"
    return Request(request.system, [UserMessage(told)], (), None, request.session)


def _fitted(head: Sequence[Message], limit: int) -> list[Message]:
    old = frozenset(m.call_id for m in head if isinstance(m, ToolMessage) and is_long(m, TRIM))
    short = [trimmed(message, old, TRIM) for message in head]
    places = [0, *(place for place in range(1, len(short)) if boundary(short, place))]
    start = next((place for place in places if estimate(short[place:]) <= limit), places[-1])
    if start == 0:
        return short
    return [UserMessage(f"[{start} earlier messages are left out here.]"), *short[start:]]


def checkpoint(history: History, wanted: Plan, cause: Cause, how: How, ledger: str = "") -> Compaction:
    """The record. What it leaves is counted by estimate: no provider has seen it yet."""
    summary = note(history, ledger) if wanted.cut else ""
    calls = frozenset(wanted.trim)
    kept = [trimmed(message, calls, wanted.keep) for message in history.messages[wanted.cut :]]
    left = estimate([UserMessage(summary), *kept] if summary else kept)
    return Compaction(cause, how, wanted.cut, summary, wanted.trim, wanted.keep, tokens_of(history), left)
