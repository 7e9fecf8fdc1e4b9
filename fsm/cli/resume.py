"""interlock resume: go on after a crash, a rest, an approval, or with something new to say."""

import re
from typing import Any

import click

from . import options


@click.command()
@click.argument("session")
@click.argument("message", required=False)
@click.option("--approve", multiple=True, metavar="CALL", help="Let this call run, with exactly its arguments.")
@click.option("--deny", multiple=True, metavar="CALL|RULE", help="Refuse this call; or never run calls of this kind.")
@click.option("--remember", is_flag=True, help="Calls like those approved run unasked from now on, in this session.")
@click.option("--allow", multiple=True, metavar="RULE", help="From now on these run unasked: 'bash(git status*)'.")
@click.option("--ask", multiple=True, metavar="RULE", help="From now on these wait for you.")
@click.option("--approve-plan", is_flag=True, help="The plan is carried out, with --permission ask (default) or full.")
@click.option("--reject-plan", metavar="COMMENTS", help="It is not; the model reads why, and plans on.")
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
    remember: bool,
    allow: tuple[str, ...],
    ask: tuple[str, ...],
    approve_plan: bool,
    reject_plan: str | None,
    events: str | None,
    **given: Any,
) -> int:
    """Go on with SESSION. Its contract stays as it was; MESSAGE after its end begins another run.

    MESSAGE answers what a tool asked; of a plan that waits for a review it is a comment, and the planning goes on.

    Limits and the permission that are given replace the run's own; rules are added to the session's. The
    model's server is the one that the session had, unless another is named; --require, --check, --tools and --system
    are for a run that begins now.
    """
    import asyncio
    import os

    from fsm.config import settings
    from fsm.setup import as_rules
    from states.rules import Rules

    from .assemble import assemble, following_run
    from .execute import execute
    from .past import history_of
    from .remember import recall
    from .remember import remember as keep
    from .stage import Stage

    flags = options.as_flags(given)
    past = asyncio.run(history_of(settings(flags, os.environ).journal, session))
    chosen = recall(flags, os.environ, past)
    plan = following_run(chosen, flags, past)
    assemble(chosen, plan)
    added = Rules(allow, ask, tuple(rule for rule in deny if not _is_call(rule)))
    as_rules(added, ())
    limited = any(flags.get(name) is not None for name in options.LIMITS)
    return execute(
        chosen,
        lambda: assemble(chosen, plan),
        lambda loop, publish: loop.resume(
            session,
            message,
            approve=approve,
            deny=tuple(call for call in deny if _is_call(call)),
            reason=reason,
            remember=remember,
            rules=added,
            budget=plan.budget if limited else None,
            permission=plan.permission if flags.get("permission") else None,
            approve_plan=approve_plan,
            reject_plan=reject_plan,
            on_event=publish,
        ),
        lambda: Stage(session, as_ndjson=events is not None, begun=lambda: keep(chosen, session)),
    )


def _is_call(said: str) -> bool:
    return re.fullmatch(r"call_\d+_\d+", said) is not None
