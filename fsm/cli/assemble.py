"""Puts a loop together from settings, and says in time what is missing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from fsm.approvals import Approver
from fsm.config import KINDS_AT_ONCE, Settings, key_variables
from fsm.limits import Limits
from fsm.loop import Loop
from fsm.offered import LATER
from fsm.prompts import BASE, OUTPUT, Prompt
from fsm.providers.prices import Price
from fsm.setup import BUILT_IN, STATE_DIR, settled
from states.contract import Budget, Contract, Permission
from states.errors import ConfigError
from states.history import History
from states.names import ENDS
from states.ports import Provider
from states.rules import Rules

from .provider import chain_of, provider_of

OF_A_NEW_RUN = ("require", "check", "verify", "schema", "system", "style", "memory", "append-system", "tools")
TOLD = {"system", "style", "memory", "append-system", "tools"}
"""Flags that say what a run owes and is told: a run that goes on keeps its own."""


@attrs.frozen
class Plan:
    """What a run that begins now is held to."""

    contract: Contract
    budget: Budget
    permission: Permission
    system: str | Path
    only: tuple[str, ...] | None = None
    rules: Rules = Rules()


def new_run(settings: Settings) -> Plan:
    """As the settings say. Raises ConfigError."""
    base = settings.system or BASE
    return Plan(_contract(settings), settings.budget(), settings.permission, base, settings.tools, settings.rules)


def following_run(settings: Settings, flags: Mapping[str, Any], past: History) -> Plan:
    """As the session's last run was held to, except for what flags say anew. Raises ConfigError."""
    anew = [name for name in OF_A_NEW_RUN if flags.get(name)]
    if past.started is None:
        return new_run(settings)
    last = past.started
    said = _contract(settings)
    same_duties = settled(said, None, None) == last.contract and not TOLD & set(anew)
    if anew and past.state not in ENDS and not same_duties:
        raise ConfigError(
            f"--{anew[0]}: the run of session {past.session!r} goes on with what it was started with; "
            "this flag is for a run that begins"
        )
    owed = said if {"require", "check", "verify", "schema"} & set(anew) else last.contract
    permission = settings.permission if flags.get("permission") else past.permission
    system = settings.system or BASE if "system" in anew else last.system.removesuffix(OUTPUT)
    only = settings.tools if "tools" in anew else last.only
    return Plan(owed, settings.budget(past.budget), permission, system, only, past.rules)


def _contract(settings: Settings) -> Contract:
    if settings.schema is None:
        return settings.contract
    from gates.output_schema import checked

    try:
        text = settings.schema.read_text(encoding="utf-8")
        return attrs.evolve(settings.contract, output_schema=checked(text))
    except (OSError, UnicodeDecodeError, ConfigError) as error:
        raise ConfigError(f"--schema: {str(settings.schema)!r}: {error}") from error


def _prompt(settings: Settings) -> Prompt:
    return Prompt(
        settings.style,
        settings.instructions,
        settings.memory,
        append=settings.append_system or "",
        runtime=settings.runtime_context,
    )


def _prices(settings: Settings, asked: Provider) -> dict[str, Price]:
    if not settings.price:
        return {}
    fresh, cached, output, *written = settings.price
    return {asked.model: Price(fresh, cached, output, written=written[0] if written else None)}


def _check_limits(limits: Limits, names: list[str]) -> None:
    """Raises ConfigError for a limit on a tool that there is not: it would do nothing."""
    for name in limits.tools:
        if name not in (*names, *BUILT_IN) and not name.startswith(LATER):
            raise ConfigError(f"limits: there is no tool {name!r}; there are {', '.join((*KINDS_AT_ONCE, *names))}")


def assemble(
    settings: Settings, plan: Plan, provider: Provider | None = None, *, on_approval: Approver | None = None
) -> Loop:
    """A loop with the workspace's tools; `provider` stands in for the settings' own.

    Nothing is opened or written yet. Raises ConfigError.
    """
    from fsm.agents.files import FOLDER, load_agents
    from fsm.tools import workspace_tools

    root = settings.workspace.resolve()
    chain = (provider,) if provider else chain_of(settings)
    folder = root / STATE_DIR / FOLDER
    own = workspace_tools(
        root,
        Path(root, STATE_DIR),
        hidden_env=key_variables(settings),  # a command that prints its environment must not print the key
        protected=(settings.journal, f"{settings.journal}.settings"),
    )
    _check_limits(settings.at_once, [tool.spec.name for tool in own])
    return Loop(
        provider=chain,
        agents=load_agents(folder, lambda model: provider_of(attrs.evolve(settings, model=model))),
        tools=[*own, *settings.servers],
        workspace=root,
        journal=settings.journal,
        contract=plan.contract,
        budget=plan.budget,
        permission=plan.permission,
        only=plan.only,
        defer=settings.defer,
        rules=plan.rules,
        on_approval=on_approval,
        hooks=settings.hooks,
        system=plan.system,
        prompt=_prompt(settings),
        prices=_prices(settings, chain[0]),
        prestart=settings.prestart,
        limits=settings.at_once,
        window=settings.window,
    )
