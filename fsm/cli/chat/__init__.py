"""interlock chat: a conversation at a terminal."""

from typing import Any

import click

from fsm.cli import options


@click.command()
@click.argument("message", required=False)
@options.model
@options.place
@options.duties
@options.rules
@options.limits
@click.option("--session", metavar="NAME", help="Go on with this session, or call a new one so.")
def chat(message: str | None, session: str | None, **given: Any) -> int:
    """Talk with the model about the workspace: MESSAGE begins, and what you type goes on.

    What is typed while it works is heard before it can succeed. Esc or Ctrl-C stops the turn, and the session rests;
    Ctrl-C once more, or Ctrl-D, leaves. /help lists the commands. Whatever was committed can be taken up again later.
    Needs the extra `chat`.
    """
    import asyncio
    import os
    import sys
    from importlib.util import find_spec

    from fsm.clock import RandomIds
    from fsm.config import settings
    from states.errors import ConfigError

    if find_spec("prompt_toolkit") is None:
        raise ConfigError("chat needs the extra `chat`: pip install 'interlock[chat]'")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("chat needs a terminal; elsewhere use `interlock run` and `interlock resume`")
    from fsm.cli.assemble import following_run, new_run
    from fsm.cli.past import known
    from fsm.cli.remember import recall

    from .room import Room
    from .terminal import Terminal

    flags = options.as_flags(given)
    chosen = settings(flags, os.environ)
    past = asyncio.run(known(chosen.journal, session)) if session else None
    if past is None:
        plan = new_run(chosen)
    else:
        chosen = recall(flags, os.environ, past)
        plan = following_run(chosen, flags, past)
    terminal = Terminal(chosen.workspace)
    room = Room(chosen, plan, session or RandomIds().session(), terminal, past)
    return asyncio.run(room.open(message))
