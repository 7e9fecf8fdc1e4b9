"""A process that is frozen between an intent and its effect, and wakes when the session is another's: real ones."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from journal.kit import python

from fsm import Loop, RunStatus, tool
from fsm.providers.scripted import Scripted, asks_for, says
from states.errors import SessionBusy
from states.fold import fold
from states.records import Status, ToolResult

FROZEN = """
import asyncio, os, signal, sys
from pathlib import Path
from fsm import Loop, tool
from fsm.journal.sqlite import SqliteJournal
from fsm.providers.scripted import Scripted, asks_for, says
from states.errors import Fenced

folder = Path(sys.argv[1])

@tool
async def pay(account: int) -> str:
    "Pay."
    with (folder / "effects").open("a") as file:
        file.write("paid\\n")
    return "paid"

class Freezing(SqliteJournal):
    "The process stops just before it makes sure, for the last time, that the session is still its own."
    intent = False

    async def append(self, claim, drafts):
        await super().append(claim, drafts)
        self.intent = self.intent or any(draft.kind == "tool_intent" for draft in drafts)

    async def confirm(self, claim):
        if self.intent:
            print("about to start", flush=True)
            os.kill(os.getpid(), signal.SIGSTOP)
        await super().confirm(claim)

async def main():
    journal = Freezing(folder / "runs.db")
    loop = Loop(provider=Scripted([asks_for(("pay", {"account": 7})), says("done")]), tools=[pay], journal=journal)
    try:
        await loop.run("pay", session="s")
    except Fenced:
        print("fenced", flush=True)

asyncio.run(main())
"""


def stopped(process):
    """Wait until the kernel has frozen it."""
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs job control as Linux has it")
def test_a_frozen_owner_does_not_do_what_another_has_taken_over(tmp_path):
    zombie = python(FROZEN, tmp_path)
    assert zombie.stdout.readline() == "about to start\n"
    stopped(zombie)
    effects = tmp_path / "effects"

    @tool
    async def pay(account: int) -> str:
        """Pay."""
        with effects.open("a") as file:
            file.write(f"paid {account} by another\n")
        return "paid"

    async def take_over():
        provider = Scripted([asks_for(("pay", {"account": 7})), says("looked, and left it")])
        provider.requests.append(None)  # the first turn was the other process's
        async with Loop(provider=provider, tools=[pay], journal=tmp_path / "runs.db") as loop:
            with pytest.raises(SessionBusy, match=str(zombie.pid)):
                await loop.resume("s")  # a frozen owner is an owner
            for lock in (tmp_path / "runs.db.locks").iterdir():
                lock.unlink()  # somebody is sure that it will never come back
            result = await loop.resume("s")
            return result, fold("s", await loop.journal.read("s")), await loop.journal.read("s")

    try:
        result, history, entries = asyncio.run(take_over())
        os.kill(zombie.pid, signal.SIGCONT)
        said, _ = zombie.communicate(timeout=30)
    finally:
        zombie.kill()

    assert result.status is RunStatus.SUCCEEDED
    assert history.unanswered == 0
    (answer,) = [entry.record for entry in entries if isinstance(entry.record, ToolResult)]
    assert answer.status is Status.UNKNOWN, "the intent was durable: whether it happened, the new owner cannot know"
    assert said == "fenced\n"
    assert not effects.exists(), "the old owner looks once more before the effect, and the new one repeats nothing"
