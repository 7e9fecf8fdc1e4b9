"""A run that is compacted, as a process that can be killed: compaction_at_work.py FOLDER MOMENT [resume]

At MOMENT ("ledger": the model is writing the ledger; "turn": the compacted conversation was sent) it says so and waits
for ever, unless FOLDER/go is there.
"""

import asyncio
import sys
from pathlib import Path

from fsm import Loop, tool
from fsm.audit import audit
from fsm.providers.scripted import Scripted
from states.ledger import BEGIN, HEADINGS, INSTRUCTION
from states.messages import Call, Finish, Text, Usage, UserMessage
from states.ports import Reply
from states.records import Compaction, CompactionFailure

home, moment = Path(sys.argv[1]), sys.argv[2]
LEDGER = "\n".join(f"## {heading}\nkept" for heading in HEADINGS)


@tool
async def write(n: int) -> str:
    """Write a line: an effect that must not happen twice."""
    with (home / "effects").open("a") as file:
        file.write(f"{n}\n")
    return "written"


class Model(Scripted):
    async def stream(self, request):
        last, first = request.messages[-1], request.messages[0]
        for_ledger = last == UserMessage(INSTRUCTION)
        compacted = first.text.startswith(BEGIN)
        if (moment == "ledger" and for_ledger) or (moment == "turn" and compacted and not for_ledger):
            await self.reached()
        done = len((home / "effects").read_text().splitlines()) if (home / "effects").exists() else 0
        if for_ledger:
            with (home / "ledgers").open("a") as file:
                file.write("asked\n")
            yield Reply((Text(LEDGER),), Finish.STOP, Usage(50, 5), "m")
        elif done < 4:
            blocks = (Text("words " * 1200), Call("", "write", f'{{"n":{done}}}'))
            yield Reply(blocks, Finish.CALLS, Usage(26_000 if done == 3 else 1000, 5), "m")
        else:
            yield Reply((Text("all done"),), Finish.STOP, Usage(100, 5), "m")

    async def reached(self):
        if not (home / "go").exists():
            sys.stdout.write("reached\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


async def main():
    async with Loop(provider=Model([]), tools=[write], journal=home / "journal.db", window=40_000) as loop:
        result = await (loop.resume("s") if "resume" in sys.argv else loop.run("go", session="s"))
        entries = await loop.journal.read("s")
        counts = [sum(isinstance(entry.record, kind) for entry in entries) for kind in (Compaction, CompactionFailure)]
        sys.stdout.write(" ".join(map(str, (result.text, *counts, len(audit(loop.graph, entries, "s"))))))


asyncio.run(main())
