"""How a run begins, and what is said to it."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from states.actions import Actions
from states.contract import Permission
from states.history import History
from states.messages import Usage
from states.names import ENDS, INITIAL
from states.output import OUTPUT_ACCEPTED
from states.plan import REMINDER
from states.prompt import composed
from states.records import Baseline, BudgetChange, ChainChange, PermissionChange, RunStarted, Understood, UserInput
from states.stopping import STOP_ALLOWED

from .basics import forget_turn, need, say


def _run_started(history: History, seq: int, record: RunStarted) -> None:
    need(history.started is None or history.state in ENDS, seq, "a run starts before the last one ended")
    need(history.unanswered == 0, seq, "a run starts with open calls")
    need(record.run == history.run + 1, seq, f"run {history.run + 1} is due, not {record.run}")
    history.started = record
    history.state = INITIAL
    history.system = composed(record.system, record.layers)
    history.contract, history.budget, history.permission = record.contract, record.budget, record.permission
    history.rules = record.rules
    history.turns = history.tool_calls = 0
    history.usage, history.seconds = Usage(), 0.0
    history.cost, history.unpriced, history.delegated, history.summary = 0.0, "", 0, ""
    history.retries = Counter()
    history.models = (record.model, *record.fallbacks)
    history.provider = history.passed_over = history.cuts = history.overflows = 0
    history.overflowing = False
    history.window, history.compacted_on = record.window, 0
    history.change = None
    history.hints, history.suspends, history.baselines = {}, {}, {}
    history.understood, history.failing, history.children = (), {}, {}
    history.questions = []
    history.rest = history.failure = history.require_tool = history.output = None
    history.closing, history.closing_event = 0, None
    history.unspent.clear()
    history.commands.clear()
    history.inputs.clear()
    history.changed, history.shell, history.verified = {}, {}, {}
    forget_turn(history)


def _user_input(history: History, seq: int, record: UserInput) -> None:
    reminder = REMINDER if history.permission is Permission.PLAN else ""
    say(history, "\n\n".join(part for part in (record.context, reminder, record.text) if part))
    history.context = record.context or history.context
    history.questions = []
    history.last_input, history.last_words = seq, record.text
    history.inputs.append(record.text)
    history.verified = {}  # it was said about what had been asked for until then
    history.calls_since_input = history.effects_since_input = 0
    history.actions = Actions()
    history.output = None
    history.retries.pop(OUTPUT_ACCEPTED, None)
    history.retries.pop(STOP_ALLOWED, None)
    if record.inbox is not None:
        need(record.inbox > history.noted, seq, f"note {record.inbox} was taken before")
        history.noted = record.inbox
    if record.queued is not None:
        need(record.queued > history.queued, seq, f"follow-up {record.queued} was taken before")
        history.queued = record.queued


def _understood(history: History, seq: int, record: Understood) -> None:
    need(history.last_input != 0, seq, "something was understood before there was an input")
    kept = (kind for kind in history.understood if kind not in record.waived)
    history.understood = tuple(dict.fromkeys((*kept, *(() if record.not_owed else record.kinds))))


def _baseline(history: History, seq: int, record: Baseline) -> None:
    need(record.gate not in history.baselines, seq, f"a second baseline of {record.gate}")
    need(history.turns == 0, seq, "a baseline after the run has begun to work")
    history.baselines[record.gate] = record


def _permission_change(history: History, seq: int, record: PermissionChange) -> None:
    history.permission = record.permission
    history.rules = history.rules.plus(record.rules)


def _chain_change(history: History, seq: int, record: ChainChange) -> None:
    need(bool(record.models), seq, "a chain without a model")
    if record.models != history.models:  # else only the window is another
        history.provider = history.passed_over = 0
    history.models, history.window = record.models, record.window


def _budget_change(history: History, seq: int, record: BudgetChange) -> None:
    history.budget = record.budget


APPLY: Final[Mapping[type, Callable[[History, int, Any], None]]] = {
    RunStarted: _run_started,
    UserInput: _user_input,
    Understood: _understood,
    Baseline: _baseline,
    PermissionChange: _permission_change,
    ChainChange: _chain_change,
    BudgetChange: _budget_change,
}
