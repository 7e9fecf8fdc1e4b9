"""What a candidate is judged by."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from states.history import History, Output
from states.messages import AssistantMessage, Finish
from states.names import State
from states.output import OUTPUT_ACCEPTED, STRUCTURED_OUTPUT, schema_digest
from states.records import (
    Candidate,
    Evidence,
    Finalized,
    Finding,
    OutputAccepted,
    Status,
    StopAnswer,
    Verdict,
    Verification,
)
from states.stopping import GOAL_MET, STOP_ALLOWED
from states.verdicts import Pass, Retry, Suspend

from .basics import need, say


def _candidate(history: History, seq: int, record: Candidate) -> None:
    need(history.state is State.CANDIDATE_FINAL, seq, f"a candidate in {history.state}")
    need(record.turn == history.turn_seq != 0, seq, "a candidate of another turn")
    need(history.candidate == 0, seq, "a second candidate of one turn")
    history.candidate = seq
    text = history.answer.strip()
    history.same_text = history.same_text + 1 if text == history.last_text and history.same_text else 1
    history.last_text = text


def _output_accepted(history: History, seq: int, record: OutputAccepted) -> None:
    state = history.calls.get(record.call)
    need(state is not None and state.call.name == STRUCTURED_OUTPUT, seq, f"{record.call!r} hands in no output")
    done = state is not None and state.result is not None and state.result.status is Status.OK
    need(done, seq, f"the output of {record.call!r}, which was not taken")
    need(state is not None and record.value == state.arguments, seq, "an output that the model did not hand in")
    schema = history.contract.output_schema
    need(bool(schema) and record.schema == schema_digest(schema), seq, "an output of another schema")
    need(not history.output_of_turn, seq, "a second output of one turn")
    history.output = Output(seq, history.turn_seq, record)


def _evidence(history: History, seq: int, record: Evidence) -> None:
    history.evidence[seq] = record


def _finding(history: History, seq: int, record: Finding) -> None:
    history.findings[record.gate] = (seq, record)


def _verification(history: History, seq: int, record: Verification) -> None:
    need(history.state is State.VERIFY, seq, f"a verification in {history.state}")
    need(record.candidate == history.candidate != 0, seq, "a verification of another candidate")
    history.verification = record


def _stop_answer(history: History, seq: int, record: StopAnswer) -> None:
    need(history.state is State.STOP_HOOK, seq, f"an answer in {history.state}")
    need(record.candidate == history.candidate != 0, seq, "an answer about another candidate")
    history.stop_answer = record


def _finalized(history: History, seq: int, record: Finalized) -> None:
    need(history.state is State.FINALIZE, seq, f"a receipt in {history.state}")
    need(record.candidate == history.candidate != 0, seq, "a receipt for another candidate")
    history.receipt = record


def _verdict(history: History, seq: int, record: Verdict) -> None:
    history.unspent.add(seq)
    history.verdicts[record.gate] = (seq, record.ruling)
    if isinstance(record.ruling, Retry):
        history.retries[record.gate] += 1
        if record.gate == STOP_ALLOWED:
            history.verified.pop(GOAL_MET, None)
        if record.gate == OUTPUT_ACCEPTED:
            history.output = None
        history.require_tool = record.ruling.require_tool
        paused = history.turn is not None and history.turn.finish is Finish.PAUSED
        own_words = bool(history.messages) and isinstance(history.messages[-1], AssistantMessage)
        if record.ruling.message or (own_words and not paused and not history.unanswered):
            say(history, record.ruling.message or record.ruling.reason)
    elif isinstance(record.ruling, Pass) and record.gate == STOP_ALLOWED:
        history.retries.pop(STOP_ALLOWED, None)
    elif isinstance(record.ruling, Pass) and record.ruling.hint:
        history.hints[record.gate] = history.turns
        say(history, record.ruling.hint)
    elif isinstance(record.ruling, Suspend):
        history.suspends[record.gate] = seq


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    Candidate: _candidate,
    OutputAccepted: _output_accepted,
    Evidence: _evidence,
    Finding: _finding,
    Verification: _verification,
    StopAnswer: _stop_answer,
    Finalized: _finalized,
    Verdict: _verdict,
}
