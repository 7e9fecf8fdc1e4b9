"""A process without threads that sweeps: `crash_subject.py FOLDER BASE_URL [FAULT]`. Prints what it found."""

import json
import sys
from pathlib import Path

from fsm.checks import Broken, crash
from fsm.driver import Driver
from fsm.loop import Loop
from fsm.providers import OpenAIChat
from states import await_results


def make_loop(**parts):
    parts["provider"] = OpenAIChat(model="scripted", base_url=sys.argv[2], api_key="none")
    return Loop(**parts)


async def run_again(*_):
    """Recovery that believes nothing to have happened."""


async def start_early(self, *records):
    """The world, before what leads there is durable."""
    self._stage(*records)
    if self.history.state != "await_results":
        await self._flush()
    return self.world


FAULTS = {"again": (await_results, "_recover", run_again), "early": (Driver, "outside", start_early)}

if __name__ == "__main__":
    for name in sys.argv[3:]:
        setattr(*FAULTS[name])
    try:
        swept = crash.sweep(make_loop, Path(sys.argv[1]))
        said = {"commits": swept.commits, "points": swept.points, "unknown": swept.unknown}
    except Broken as error:
        said = {"broken": str(error)}
    sys.stdout.write(json.dumps(said))
