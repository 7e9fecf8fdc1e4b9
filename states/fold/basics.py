"""What several folds share."""

from states.errors import HistoryError
from states.history import History
from states.messages import Usage, UserMessage
from states.records import Spent


def need(holds: bool, seq: int, what: str) -> None:
    if not holds:
        raise HistoryError(f"record {seq}: {what}")


def say(history: History, text: str) -> None:
    """Words for the model; while calls are open they wait, so that no answer is parted from its call."""
    (history.held if history.unanswered else history.messages).append(UserMessage(text))


def pay(history: History, usage: Usage, cost: float | None, model: str) -> None:
    """What an answer of the model took from the budget, and cost the session."""
    history.usage = history.usage + usage
    history.spent = history.spent + usage
    if cost is None:
        history.unpriced = model or "the model"
    else:
        history.cost += cost


def lose(history: History, spent: Spent | None) -> None:
    """What an answer cost that nobody uses."""
    if spent is not None:
        pay(history, spent.usage, spent.cost, spent.model)


def forget_turn(history: History) -> None:
    history.turn, history.turn_seq, history.trouble = None, 0, None
    history.carried, history.cut = "", False
    history.calls, history.unanswered, history.early = {}, 0, {}
    history.same_text, history.last_text = 0, ""
    forget_candidate(history)


def forget_candidate(history: History) -> None:
    history.candidate = 0
    history.verification = history.stop_answer = history.receipt = None
    history.stop_hooks = ()
    history.verdicts = {}
    history.evidence = {}
    history.findings = {}
    history.opinions, history.verifiers = {}, {}
