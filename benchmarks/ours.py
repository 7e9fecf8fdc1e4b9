"""The same work with the loop: its own provider, tool and journal, nothing left out."""

import argparse
import asyncio
import sys
from functools import partial

from fsm import Budget, Loop, tool
from fsm.journal.sqlite import SqliteJournal
from fsm.providers import OpenAIChat

from .disk import CountedDisk
from .meter import METER
from .options import options
from .script import KEY, SYSTEM, TASK, TOOL_DESCRIPTION, echoed


@tool(description=TOOL_DESCRIPTION)
async def echo(text: str) -> str:
    METER.mark()
    return echoed(text)


async def _main(given: argparse.Namespace) -> None:
    disk = CountedDisk() if given.syncs else None
    loop = Loop(
        provider=OpenAIChat(given.model, given.url, api_key=KEY),
        tools=[echo],
        journal=SqliteJournal(given.journal, vfs=disk.name if disk else ""),
        budget=Budget(max_turns=None),
        system=SYSTEM,
    )
    names = [f"s{number}" for number in range(given.sessions)]
    async with loop:
        work = loop.resume if given.resume else partial(loop.run, TASK)
        results = await asyncio.gather(*(work(session=name) for name in names))
    broken = next((result for result in results if not result.succeeded), None)
    if broken is not None:
        sys.exit(f"the run did not succeed: {broken.reason}: {broken.message}")


if __name__ == "__main__":
    given = options()
    METER.begin(announce=given.announce)
    asyncio.run(_main(given))
    METER.report()
