"""Reads this process's clocks at every tool call, and prints what was read as one line of JSON."""

import json
import resource
import time
from typing import Final


def cpu() -> float:
    """Seconds of user and system time of this process, all threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Meter:
    """`begin` when the imports are done, `mark` at each tool call, `report` at the end."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, float]] = []
        self._begun = (0.0, 0.0)
        self.extra: dict[str, object] = {}

    def begin(self, *, announce: bool = False) -> None:
        self._begun = (cpu(), time.monotonic())
        if announce:
            print(json.dumps(self._begun), flush=True)

    def mark(self) -> None:
        self._marks.append((cpu(), time.monotonic()))

    def report(self) -> None:
        """CPU and wall are seconds; the clock is monotonic and the machine's, so processes can be compared."""
        said = {
            "begun": self._begun,
            "ended": (cpu(), time.monotonic()),
            "marks": self._marks,
            "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            **self.extra,
        }
        print(json.dumps(said), flush=True)


METER: Final = Meter()
