"""interlock run: a task, from its first word to its receipt."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("task")
@options.model
@options.place
@options.duties
@options.rules
@options.limits
@click.option("--session", metavar="NAME", help="What to call the session.  [default: date and time]")
@click.option("--goal", default="", metavar="TEXT", help="What the session has to reach, as a fresh verifier finds.")
@options.output
def run(task: str, session: str | None, goal: str, events: str | None, **given: Any) -> int:
    """Run TASK until it succeeds, fails or rests. The answer goes to standard output."""
    import os

    from fsm.clock import RandomIds
    from fsm.config import settings
    from states.errors import ConfigError

    from .assemble import assemble, new_run
    from .execute import execute
    from .remember import remember
    from .stage import Stage

    if not task.strip():
        raise ConfigError("the task is empty; say what is to be done")
    chosen = settings(options.as_flags(given), os.environ)
    name = session or RandomIds().session()
    plan = new_run(chosen)
    assemble(chosen, plan)  # what cannot work is said before anything is written
    return execute(
        chosen,
        lambda: assemble(chosen, plan),
        lambda loop, publish: loop.run(task, session=name, goal=goal, on_event=publish),
        lambda: Stage(name, as_ndjson=events is not None, begun=lambda: remember(chosen, name)),
    )
