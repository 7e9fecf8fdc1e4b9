"""Where a run stands that is out of budget: told from its journal, or by the model on what was kept in reserve."""

from contextlib import aclosing
from typing import Final

from gates.budget_left import SPENT_FOR_GOOD
from states.history import History
from states.messages import Message, ToolMessage, UserMessage
from states.names import State
from states.ports import Provider, ProviderTrouble, Reply, Request
from states.records import Trouble
from states.verdicts import WaitsFor

SHOWN: Final = 300
"""Characters of the model's last words, and of a command, that are told again (our choice)."""

ASK: Final = (
    "The budget of this run is spent: nothing more will be done now. Say in a few sentences where things stand: what "
    "was asked for, what is done and what shows it, what is not done, and what comes next. Call no tool."
)
NOT_RUN: Final = "Not started: the run is out of budget."


def told(history: History) -> str:
    """From committed records alone, so that it can be derived again."""
    usage = history.usage
    cost = f", {history.cost:.4f} USD" if history.cost else ""
    lines = [f"Spent: {history.turns} turns, {history.tool_calls} tool calls, {usage.total} tokens{cost}."]
    if history.commands:
        last = history.commands[-1]
        lines.append(f"Last command: `{last.command[:SHOWN]}` ended with exit status {last.exit_status}.")
    if history.owed or history.contract.commands:
        lines.append(f"Owed: {', '.join((*history.owed, *history.contract.commands))}.")
    waiting = [state.call.name for state in history.open_calls()]
    if waiting:
        lines.append(f"Asked for and not started: {', '.join(waiting)}.")
    if words := history.text.strip():
        lines.append(f"The model's last words: {words[:SHOWN]}{'...' if len(words) > SHOWN else ''}")
    return " ".join(lines)


def may_ask(history: History) -> bool:
    """Whether the reserve is there and can be spent: a count may be used up, but not tokens, money or time."""
    rest, budget = history.rest, history.budget
    if history.state is not State.SUSPENDED or rest is None or rest.waits_for is not WaitsFor.BUDGET:
        return False
    if budget.reserve is None or (budget.tokens is not None and history.usage.total >= budget.tokens):
        return False
    return all(limit(budget, history) is None for limit in SPENT_FOR_GOOD)


def question(history: History) -> Request:
    """The conversation as it is, calls that were not started answered so, and what is asked."""
    messages: list[Message] = list(history.messages)
    if history.unanswered:
        for state in history.calls.values():
            done = state.result
            messages.append(ToolMessage(state.call.id, state.call.name, done.output if done else NOT_RUN, done is None))
    messages += [*history.held, UserMessage(ASK)]
    return Request(history.system, messages, (), None, history.session)


async def reply_to(provider: Provider, request: Request) -> Reply:
    """The whole answer; nothing of it is shown on the way. Raises ProviderTrouble."""
    async with aclosing(provider.stream(request)) as stream:
        async for item in stream:
            if isinstance(item, Reply):
                return item
    raise ProviderTrouble(Trouble.CUT, "the answer broke off")
