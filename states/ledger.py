"""The words that stand for a compacted conversation: what was asked for stays as it was said, the rest is a ledger."""

from collections.abc import Sequence
from typing import Final

from .contract import Permission
from .history import History
from .messages import AssistantMessage, Message, ToolMessage, UserMessage, calls_of, text_of
from .plan import REMINDER
from .shorten import shortened

HEADINGS: Final = (
    "Goal",
    "Rules and decisions",
    "Work done",
    "Files and facts",
    "Errors and their fixes",
    "Evidence",
    "Next step",
)
"""What a ledger has to answer (blade-code's seven headings, in our words)."""

INSTRUCTION: Final = (
    "The conversation is about to be compacted: everything above will be replaced by what you write now, and you will "
    "go on from that alone. Call no tool. Write a ledger with exactly these headings, each on a line of its own that "
    "begins with '## ':\n\n" + "\n".join(f"## {heading}" for heading in HEADINGS) + "\n\n"
    "Be complete and exact where it matters: names, paths, commands, numbers, error messages, what the user wants and "
    "forbids, what was tried and failed, what is verified and what is not. Under 'Next step' say what you were about "
    "to do. Leave out what is of no use any more. Where there is nothing to say, write 'none'."
)

BEGIN: Final = (
    "[Compacted conversation. What came before is replaced by this note; it was written for you to go on from. Do not "
    "answer it, and do not repeat work that it says is done.]"
)
LATEST: Final = 6000
"""Characters kept of each input (blade-code's bound for the task under way)."""
INPUTS: Final = 24000
"""Characters kept of all inputs of the run together (our choice)."""
CHANGED: Final = 50
"""Files named that the run has changed, the last ones (our choice)."""
LINES: Final = 40
LINE: Final = 160
"""Lines of an outline, and characters of each (claw-code has 24 of 160)."""


def missing(text: str) -> list[str]:
    """Headings that a ledger lacks."""
    lines = {line.strip("#* \t:").casefold() for line in text.splitlines()}
    return [heading for heading in HEADINGS if heading.casefold() not in lines]


def note(history: History, ledger: str) -> str:
    """The whole message that stands for what was dropped."""
    parts = [part for part in (BEGIN, history.context) if part] + _asked(history.inputs)
    owed = [*(f"a passing {kind}" for kind in history.owed), *(f"`{line}`" for line in history.contract.commands)]
    if owed:
        parts.append(f"Still owed before the run can succeed: {', '.join(owed)} on the final workspace.")
    if history.changed:
        names = list(history.changed)
        more = f" and {len(names) - CHANGED} others" if len(names) > CHANGED else ""
        parts.append(f"Files that were changed in this run: {', '.join(names[-CHANGED:])}{more}.")
    if history.permission is Permission.PLAN:
        parts.append(REMINDER)
    return "\n\n".join([*parts, ledger.strip()])


def _asked(inputs: Sequence[str]) -> list[str]:
    """The run's inputs, the first and the last ones first of all."""
    if not inputs:
        return []
    shown = [shortened(text, LATEST) for text in inputs]
    kept, room = [len(shown) - 1], INPUTS - len(shown[-1])
    for place in (0, *range(len(shown) - 2, 0, -1)):
        if place not in kept and len(shown[place]) <= room:
            kept.append(place)
            room -= len(shown[place])
    said = [f"{place + 1}. {shown[place]}" for place in sorted(kept)]
    left = len(shown) - len(kept)
    if left:
        said.append(f"({left} inputs between them are left out)")
    return ["What the user said in this run, word for word:\n" + "\n".join(said)]


def outline(messages: Sequence[Message]) -> str:
    """A ledger made without the model: what was done, a line per step, the last `LINES` of them."""
    lines = [line for message in messages for line in _lines(message)]
    left = [f"- ({len(lines) - LINES} earlier steps are left out)"] if len(lines) > LINES else []
    done = "\n".join([*left, *lines[-LINES:]]) or "none"
    return (
        f"## {HEADINGS[2]}\n{done}\n\n## {HEADINGS[-1]}\nGo on with what was asked; look at the state of things first."
    )


def transcript(messages: Sequence[Message]) -> str:
    """A conversation as one text, for a request without tools: protocols refuse calls where no tools are declared."""
    said: list[str] = []
    for message in messages:
        match message:
            case AssistantMessage(blocks=blocks):
                said += [f"[you] {text_of(blocks)}"] if text_of(blocks).strip() else []
                said += [f"[you called {call.name}] {call.arguments}" for call in calls_of(blocks)]
            case ToolMessage(name=name, text=text, failed=failed):
                said.append(f"[{name} {'failed' if failed else 'answered'}] {text}")
            case UserMessage(text=text):
                said.append(f"[user] {text}")
    return "\n\n".join(said)


def _lines(message: Message) -> list[str]:
    match message:
        case AssistantMessage(blocks=blocks):
            said = [f"- you: {_line(text_of(blocks))}"] if text_of(blocks).strip() else []
            return [*said, *(f"- called {call.name} {_line(call.arguments)}" for call in calls_of(blocks))]
        case ToolMessage(name=name, text=text, failed=failed):
            return [f"  - {name} {'failed' if failed else 'answered'}: {_line(text)}"]
        case UserMessage(text=text):
            return [f"- user: {_line(text)}"]


def _line(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= LINE else one[: LINE - 1] + "…"
