"""Which provider of a chain is asked after one that gave no answer: a pure function of what is committed."""

from typing import Final

from .history import History
from .records import ProviderChange, Trouble, TurnFailure

CUTS: Final = 2
"""Answers of one provider in a row that broke off, after which another is asked (our choice)."""
OWN: Final = frozenset({401, 402, 403, 404, 429, None})
"""Statuses of a refusal that is about the provider and not about the request: key, money, rights, no such model; and
an answer that is none of its protocol. Another provider may take the same request."""


def replacement(history: History, failure: TurnFailure, epoch: int) -> ProviderChange | None:
    """The change that a failure in `epoch` calls for; None where the chain has nobody left, or nobody could do better.

    Each provider is tried once until the next good turn, or until a person resumes the run.
    """
    if history.passed_over + 1 >= len(history.models) or not _may_do_better(history, failure):
        return None
    place, model = next_place(history)
    return ProviderChange(place, epoch + 1, f"{failure.message}; {model} is asked from now on", model)


def next_place(history: History) -> tuple[int, str]:
    """The provider after the one that is asked, and its model; after the last one comes the first."""
    place = (history.provider + 1) % len(history.models)
    return place, history.models[place]


def _may_do_better(history: History, failure: TurnFailure) -> bool:
    match failure.trouble:
        case Trouble.DOWN:
            return True
        case Trouble.CUT:
            return history.cuts + 1 >= CUTS
        case Trouble.REFUSED:
            return failure.status in OWN
        case Trouble.OVERFLOW:
            return False
