"""interlock resume: go on after a crash, a rest, an approval, or with something new to say."""

from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@click.argument("message", required=False)
@click.option("--approve", multiple=True, metavar="CALL", help="Let this call run, with exactly its arguments.")
@click.option("--deny", multiple=True, metavar="CALL", help="Refuse this call.")
@click.option("--reason", default="", metavar="TEXT", help="Why; the model reads it.")
@options.model
@options.place
@options.duties
@options.limits
@options.output
def resume(
    session: str,
    message: str | None,
    *,
    approve: tuple[str, ...],
    deny: tuple[str, ...],
    reason: str,
    events: str | None,
    **given: Any,
) -> int:
    """Go on with SESSION. Its contract stays as it was; MESSAGE after its end begins another run.

    Limits and the permission that are given replace the run's own. The model's server is the one that the session
    had, unless another is named; --require, --check and --system are for a run that begins now.
    """
    import asyncio
    import os

    from fsm.config import settings

    from .assemble import assemble, following_run
    from .execute import execute
    from .past import history_of
    from .remember import recall, remember
    from .stage import Stage

    flags = options.as_flags(given)
    past = asyncio.run(history_of(settings(flags, os.environ).journal, session))
    chosen = recall(flags, os.environ, past)
    plan = following_run(chosen, flags, past)
    assemble(chosen, plan)
    limited = any(flags.get(name) is not None for name in options.LIMITS)
    return execute(
        chosen,
        lambda: assemble(chosen, plan),
        lambda loop, publish: loop.resume(
            session,
            message,
            approve=approve,
            deny=deny,
            reason=reason,
            budget=plan.budget if limited else None,
            permission=plan.permission if flags.get("permission") else None,
            on_event=publish,
        ),
        lambda: Stage(session, as_ndjson=events is not None, begun=lambda: remember(chosen, session)),
    )
