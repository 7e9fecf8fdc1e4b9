"""The process that `interlock demo --crash` starts: it plays the demonstration and kills itself in mid-answer."""

import os
import signal
import sys
from pathlib import Path

import attrs

from fsm import events

from .progress import Progress
from .show_demo import play


@attrs.define(eq=False)
class Doomed(Progress):
    """Shows progress like any other; the first words after a changed file are the last ones."""

    changed: bool = False

    def __call__(self, event: events.Event) -> None:
        super().__call__(event)
        if isinstance(event, events.ToolStart) and event.name == "edit_file":
            self.changed = True
        if self.changed and isinstance(event, events.Delta):
            self.close()
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    play(Path(sys.argv[1]), progress=lambda: Doomed(lines=True))
