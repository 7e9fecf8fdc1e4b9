"""How a command ended, in words for the model."""

from collections.abc import Mapping

from .command import Ended, Ending, Limits


def last_words(ended: Ended, limits: Limits) -> str:
    words: Mapping[Ending, str] = {
        Ending.EXITED: f"exit status {ended.status}",
        Ending.QUIET: f"stopped: no output for {limits.quiet:g} s; what it did until then remains",
        Ending.LATE: f"stopped after {limits.total:g} s; what it did until then remains",
        Ending.FLOOD: f"stopped: more than {limits.output:,} characters of output; what it did until then remains",
        Ending.CANCELLED: "cancelled: stopped after it had started; what it did until then remains",
    }
    return words[ended.ending]
