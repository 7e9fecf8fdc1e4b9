"""provider_kept: no other provider of the chain has been called in. One that was is asked at once."""

from typing import Final

from states.history import History
from states.verdicts import Pass, Retry, Ruling

from .gate import Gate


class ProviderKept(Gate):
    name = "provider_kept"
    may = (Retry,)

    def judge(self, history: History) -> Ruling:
        """The fold bounds it: each provider is called in once, until the next good turn."""
        return Pass() if history.change is None else Retry(history.change.reason)


provider_kept: Final = ProviderKept()
