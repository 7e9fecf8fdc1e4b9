"""What verifiers say."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from states.history import History
from states.records import VerifierResult, VerifierStarted

from .basics import need


def _verifier_started(history: History, seq: int, record: VerifierStarted) -> None:
    need(record.candidate == history.candidate != 0, seq, "a verifier looks at another candidate")
    need(record.session not in history.verifiers, seq, f"the verifier of session {record.session!r} begins twice")
    history.verifiers[record.session] = record


def _verifier_result(history: History, seq: int, record: VerifierResult) -> None:
    need(history.candidate != 0, seq, "a verifier's word about no candidate")
    known = history.verified.get(record.gate)
    again = known is not None and known.session == record.session
    need(again or record.session in history.verifiers, seq, f"the word of {record.session!r}, which did not begin")
    history.opinions[record.gate] = (seq, record)
    history.verified[record.gate] = record
    history.usage = history.usage + record.usage
    history.spent = history.spent + record.usage
    history.cost += record.cost


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    VerifierStarted: _verifier_started,
    VerifierResult: _verifier_result,
}
