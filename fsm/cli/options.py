"""Options that several commands share. Each is named as in `interlock.toml`; one that was not given is None."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from fsm.config import StandIn

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]

LIMITS: Final = (
    *("max-turns", "budget-tokens", "budget-seconds", "budget-tool-calls", "budget-input-tokens"),
    *("budget-output-tokens", "budget-reasoning-tokens", "budget-cost", "budget-delegated", "budget-reserve"),
)

Given = dict[str, Any]
"""What click hands to a command: an option's name with underscores, and its value."""


def _stack(function: Function, options: tuple[Decorator[Function], ...]) -> Function:
    for option in reversed(options):
        function = option(function)
    return function


def place(function: Function) -> Function:
    """Where the work and the journal are."""
    return _stack(
        function,
        (
            click.option("--workspace", metavar="DIR", help="The folder that is worked on.  [default: .]"),
            click.option(
                "--journal", metavar="FILE", help="Where runs are kept.  [default: .interlock/journal.db there]"
            ),
        ),
    )


def model(function: Function) -> Function:
    """Which model is asked, and how."""
    return _stack(
        function,
        (
            click.option(
                "--provider", help="openai (chat completions), responses, anthropic, replay.  [default: openai]"
            ),
            click.option("--model", metavar="NAME", help="The model's name, as its server knows it."),
            click.option(
                "--base-url", metavar="URL", help="The server; OPENAI_BASE_URL, ANTHROPIC_BASE_URL are honoured."
            ),
            click.option(
                "--api-key-env", metavar="NAME", help="The variable with the key.  [default: the provider's own]"
            ),
            click.option(
                "--fallback",
                multiple=True,
                metavar="PROVIDER:MODEL[@URL]",
                help="Asked from then on where the one before it does not answer.",
            ),
            click.option(
                "--window",
                type=int,
                metavar="TOKENS",
                help="The model's context window.  [default: of known models]",
            ),
            click.option("--cassette", metavar="FILE", help="Recorded turns, for --provider replay."),
            click.option("--record", metavar="FILE", help="Write the model's turns down, to replay them."),
            click.option(
                "--patience", type=float, metavar="SECONDS", help="Waiting for a provider that is down.  [default: 30]"
            ),
            click.option(
                "--inactivity",
                type=float,
                metavar="SECONDS",
                help="Silence within an answer before it counts as broken off.  [default: 300]",
            ),
        ),
    )


def limits(function: Function) -> Function:
    """What a run may spend, over all its resumes."""
    return _stack(
        function,
        (
            click.option("--max-turns", type=int, metavar="N", help="Model turns.  [default: 200]"),
            click.option("--budget-tokens", type=int, metavar="N", help="Input and output together."),
            click.option("--budget-seconds", type=float, metavar="N", help="Time of work; rest is free."),
            click.option("--budget-tool-calls", type=int, metavar="N", help="Tool calls."),
            click.option("--budget-input-tokens", type=int, metavar="N", help="Input alone."),
            click.option("--budget-output-tokens", type=int, metavar="N", help="Output alone."),
            click.option("--budget-reasoning-tokens", type=int, metavar="N", help="Reasoning, which is part of it."),
            click.option("--budget-cost", type=float, metavar="USD", help="US dollars at list prices."),
            click.option("--budget-delegated", type=int, metavar="N", help="Runs given to other agents."),
            click.option("--budget-reserve", type=int, metavar="N", help="Tokens kept for a summary by the model."),
            click.option(
                "--price", metavar="IN,CACHED,OUT[,WRITTEN]", help="The model's, in US dollars per million tokens."
            ),
        ),
    )


def duties(function: Function) -> Function:
    """What a run owes, and what it may do unasked."""
    return _stack(
        function,
        (
            click.option("--require", multiple=True, metavar="KINDS", help="Of test, lint, type-check, build."),
            click.option("--check", multiple=True, metavar="COMMAND", help="Exactly this command must pass."),
            click.option(
                "--verify", help="auto, always or never: whether an independent verifier has to agree.  [never]"
            ),
            click.option("--tools", multiple=True, metavar="NAMES", help="Only these are offered; * is a pattern."),
            click.option("--defer", multiple=True, metavar="NAMES", help="Of these the model loads those it needs."),
            click.option(
                "--schema", metavar="FILE", help="A JSON Schema that the result must fit; it is printed as JSON."
            ),
            click.option(
                "--hooks", type=click.Choice(["trust", "off"]), help="Of the workspace: run them this time, or none."
            ),
            click.option(
                "--mcp",
                type=click.Choice(["trust", "off"]),
                help="Servers of the workspace's file: start them, or none.",
            ),
            click.option(
                "--limit",
                "limits",
                multiple=True,
                metavar="NAME=N",
                help="Calls at once: of a tool, or of process, session, reads, effects.",
            ),
            click.option("--permission", help="ask, full or plan: what runs without asking.  [default: ask]"),
            click.option(
                "--prestart",
                multiple=True,
                metavar="TOOLS",
                help="Tools that may start while the answer is streamed, or none.  [default: those that read files]",
            ),
            click.option("--system", metavar="FILE", help="The system prompt's base, instead of the built-in one."),
            click.option("--style", metavar="STYLE", help="concise, explanatory, or words: how the model writes."),
            click.option(
                "--instructions",
                type=click.Choice(["trust", "off"]),
                help="Of the project (AGENTS.md, CLAUDE.md, interlock.md): read them this time, or none.",
            ),
            click.option("--memory", metavar="FILE", help="An index of what was learnt before; 200 lines are read."),
            click.option("--append-system", metavar="FILE", help="The last words of the system prompt."),
            click.option("--runtime-context", help="on or off: date, folder and git state before each input.  [on]"),
        ),
    )


def rules(function: Function) -> Function:
    """Rules about single calls, for a run that begins a session."""
    return _stack(
        function,
        (
            click.option("--allow", multiple=True, metavar="RULE", help="These run unasked: 'bash(git status*)'."),
            click.option("--ask", multiple=True, metavar="RULE", help="These wait for you, whatever the permission."),
            click.option("--deny", multiple=True, metavar="RULE", help="These never run."),
        ),
    )


def output(function: Function) -> Function:
    """How the run is shown."""
    return click.option("--events", type=click.Choice(["ndjson"]), help="Events on standard output, a line each.")(
        function
    )


def _stand_in(text: str) -> "StandIn":
    from fsm.config import DIALECTS, stand_in
    from states.errors import ConfigError

    one = stand_in(text)
    if one is None:
        raise ConfigError(
            f"--fallback {text}: write PROVIDER:MODEL or PROVIDER:MODEL@URL, with a provider of {', '.join(DIALECTS)}"
        )
    return one


def as_flags(given: Given) -> Given:
    """Options under the names that `fsm.config` knows."""
    from fsm.config import KEYS, at_once, comma_list

    flags = {name.replace("_", "-"): value for name, value in given.items()}
    flags["fallback"] = tuple(_stand_in(text) for text in flags.get("fallback") or ())
    for name in ("require", "tools", "defer", "prestart"):
        if flags.get(name):
            flags[name] = comma_list(flags[name])
    if flags.get("limits"):
        flags["limits"] = at_once(comma_list(flags["limits"]))
    known = (*KEYS, "workspace", "hooks", "mcp", "instructions")
    return {name: value for name, value in flags.items() if name in known}
