"""ask_user: a question to the person, for whom the run then waits."""

from typing import Annotated

from .context import ToolError
from .decorate import tool
from .returned import NeedsConfirmation


@tool(read_only=True)
async def ask_user(
    question: Annotated[str, "one question, with what they need to know to answer it"],
    options: Annotated[list[str], "answers to choose from, if there are a few"] = [],  # noqa: B006  never changed
) -> NeedsConfirmation:
    """Ask the person something that only they can decide. The work goes on when they have answered."""
    if not question.strip():
        raise ToolError("the question is empty.")
    listed = "".join(f"\n- {option}" for option in options)
    return NeedsConfirmation(question + listed, "The question was put to the person; their answer comes next.")
