"""Slash commands of a chat: one line in the table for each, and what it does."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final

import attrs

from fsm.cli.assemble import new_run
from fsm.cli.hints import command
from fsm.clock import RandomIds
from fsm.config import DIALECTS, Origin, Settings, stand_in
from fsm.setup import as_permission
from states.contract import Permission
from states.errors import ConfigError
from states.records import GoalWord

if TYPE_CHECKING:
    from .room import Room

Does = Callable[["Room", str], Awaitable[None]]


@attrs.frozen
class Command:
    usage: str
    about: str
    does: Does
    idle: bool = False
    """Only while nothing goes on."""


async def run_command(room: "Room", line: str) -> None:
    """Raises ConfigError for one that is not known, or not possible now."""
    name, _, rest = line.removeprefix("/").partition(" ")
    known = COMMANDS.get(name)
    if known is None:
        listed = ", ".join(f"/{each}" for each in COMMANDS)
        raise ConfigError(f"there is no /{name}; there are: {listed}. A space before it sends it as words.")
    if known.idle and room.working:
        raise ConfigError(f"/{name} is for when nothing goes on; Esc stops what does")
    await known.does(room, rest.strip())


async def _help(room: "Room", rest: str) -> None:
    width = max(len(each.usage) for each in COMMANDS.values())
    room.terminal.say("\n".join(f"  {each.usage.ljust(width)}  {each.about}" for each in COMMANDS.values()))
    room.terminal.say("  Esc or Ctrl-C stops the turn; Ctrl-C once more, or Ctrl-D, leaves. Up: what was typed before.")


async def _quit(room: "Room", rest: str) -> None:
    room.leave()


async def _plan(room: "Room", rest: str) -> None:
    await _permission(room, Permission.PLAN)
    if rest:
        room.say_to_model(rest)


async def _permission(room: "Room", rest: str) -> None:
    if not rest:
        room.terminal.say(
            f"permission {room.permission or room.plan.permission}; /permission ask, full or plan changes it"
        )
        return
    wanted = as_permission(rest)
    await room.permit(wanted)
    room.terminal.say(f"permission {wanted} from your next words on", "dim")


async def _model(room: "Room", rest: str) -> None:
    if not rest:
        room.terminal.say(f"model {', then '.join(room.loop.models)}; /model NAME or /model PROVIDER:NAME changes it")
        return
    await room.anew(_asking(room.settings, rest), room.plan)
    room.terminal.say(f"{rest} is asked from your next words on", "dim")


def _asking(settings: Settings, said: str) -> Settings:
    """The settings with another model: of the same server, or, as PROVIDER:NAME[@URL], of another one."""
    other = stand_in(said)
    if other is None:
        return attrs.evolve(settings, model=said)
    return attrs.evolve(
        settings,
        provider=other.provider,
        model=other.model,
        base_url=other.base_url,
        base_url_from=Origin.FLAG if other.base_url else Origin.DEFAULT,
        api_key_env=DIALECTS[other.provider].key,
    )


async def _clear(room: "Room", rest: str) -> None:
    if room.past is not None:
        room.terminal.say(f"it stays: {command(room.settings, 'chat', '--session', room.session)}", "dim")
    await room.anew(room.settings, new_run(room.settings))
    room.session, room.past, room.permission = RandomIds().session(), None, None
    room.forget()
    room.terminal.say(f"session {room.session} (new)", "dim")


async def _cost(room: "Room", rest: str) -> None:
    from fsm.report.bill import bill

    if room.past is None:
        room.terminal.say("nothing was spent yet")
        return
    found = bill(await room.loop.journal.read(room.session))
    for line in found.lines:
        cost = "price not known" if line.cost is None else f"{line.cost:.4f} USD"
        usage = line.usage
        room.terminal.say(f"  {line.model}: {line.turns} turns, {usage.input} tokens in, {usage.output} out, {cost}")
    total = "" if found.cost is None else f", {found.cost:.4f} USD"
    room.terminal.say(f"session {room.session}: {found.turns} turns, {found.usage.total} tokens{total}")


async def _goal(room: "Room", rest: str) -> None:
    if rest and rest not in tuple(GoalWord):
        if room.past is not None:
            raise ConfigError("a goal is for a whole session: /clear begins a new one, then /goal TEXT")
        room.goal = rest
        room.terminal.say("the session that begins with your next words is to reach it", "dim")
        return
    found = await room.loop.goal(room.session, rest or None) if room.past is not None else None
    room.terminal.say(f"{found[1]}: {found[0]}" if found else "this session has no goal; /goal TEXT is for a new one")


async def _compact(room: "Room", rest: str) -> None:
    from fsm.cli.compact import said_of

    if room.past is None:
        room.terminal.say("there is nothing to compact")
        return
    room.terminal.say("the model writes a ledger that stands for the older turns", "dim")
    room.terminal.say(said_of(await room.loop.compact(room.session)))
    await room.look()


async def _continue(room: "Room", rest: str) -> None:
    if room.over:
        raise ConfigError("there is nothing to go on with: the last run has ended; say what is to be done next")
    room.go_on()


COMMANDS: Final[Mapping[str, Command]] = {
    "help": Command("/help", "this list", _help),
    "plan": Command("/plan [TEXT]", "look and plan only, until you approve the plan", _plan, idle=True),
    "permission": Command("/permission [ask|full|plan]", "what runs without asking", _permission, idle=True),
    "model": Command("/model [[PROVIDER:]NAME[@URL]]", "which model is asked", _model, idle=True),
    "goal": Command(
        "/goal [TEXT|pause|resume|clear]", "what a new session is to reach; how far it is", _goal, idle=True
    ),
    "continue": Command("/continue", "go on without words", _continue, idle=True),
    "compact": Command(
        "/compact", "let the model put the older turns in short; the journal keeps them", _compact, idle=True
    ),
    "clear": Command("/clear", "begin a new session; this one stays in the journal", _clear, idle=True),
    "cost": Command("/cost", "what the session has used up", _cost),
    "quit": Command("/quit", "leave; what goes on comes to rest", _quit),
}
