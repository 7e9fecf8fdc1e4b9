"""Turns what a caller gives into the ports that a loop needs; wrong input is named, with the way out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import attrs

from gates.commands import KINDS
from gates.permission import parse_rule
from states.context import usable
from states.contract import Contract, Isolation, Permission, Verify
from states.errors import ConfigError
from states.output import schema_digest
from states.plan import SUBMIT_PLAN
from states.ports import Journal, Provider, Toolbox, ToolSpec, Verifier, Workspace
from states.rules import Rules

from .offered import LATER
from .output import Wanted

if TYPE_CHECKING:
    from .agents import Agent
    from .agents.crew import Crew, MakeLoop

LEAST_WINDOW: Final = 1024
"""Tokens below which no conversation with tools has room (our choice)."""
STATE_DIR: Final = ".interlock"
"""Everything that Interlock writes into a workspace; it keeps itself out of git."""

BUILT_IN: Final = (
    *("read_file", "write_file", "edit_file", "apply_patch", "list_dir", "glob", "grep"),
    *("bash", "bash_output", "bash_stop", "task", "structured_output", "submit_plan"),
)
"""Tools that a rule may name although a loop does not have them: rules are shared between loops."""


def state_dir(workspace: str | Path | Workspace | None) -> Path:
    """Where a loop keeps what it has to keep: under the workspace, else under the current folder."""
    return (Path(workspace) if isinstance(workspace, str | Path) else Path.cwd()) / STATE_DIR


def as_chain(provider: Provider | Sequence[Provider]) -> tuple[Provider, ...]:
    """The providers in the order in which they are asked. Raises ConfigError for none at all."""
    chain = tuple(provider) if isinstance(provider, Sequence) else (provider,)
    if not chain:
        raise ConfigError("provider=[] asks nobody; give one, or a list with the one that is asked first")
    return chain


def as_window(window: int | None, models: Sequence[str]) -> int | None:
    """Tokens that a request may fill: of the window that is given, else of what is known of the models."""
    if window is None:
        from .providers.windows import usable_by

        return usable_by(models)
    if window < LEAST_WINDOW:
        raise ConfigError(
            f"window={window} is too small; give the model's context window in tokens, at least {LEAST_WINDOW}"
        )
    return usable(window)


def as_journal(journal: str | Path | Journal | None, workspace: str | Path | Workspace | None) -> Journal:
    from .journal import open_journal

    return open_journal(state_dir(workspace) / "journal.db" if journal is None else journal)


def as_toolbox(
    tools: Iterable[object] | Toolbox, workspace: str | Path | Workspace | None, context: object = None
) -> Toolbox:
    from .tools import Tool, Tools
    from .tools.plan import submit_plan
    from .tools.reserved import refuse_reserved

    if hasattr(tools, "complaint"):  # a whole toolbox of the caller's own
        if context is not None:
            raise ConfigError("context=... is for tools made with @tool; a toolbox of your own has its own: Tools(...)")
        return refuse_reserved(tools)  # type: ignore[arg-type]
    found = list(tools)
    for item in found:
        if not isinstance(item, Tool):
            raise ConfigError(f"{item!r} is no tool; put @tool above its function")
    if any(isinstance(item, Tool) and item.spec.name == SUBMIT_PLAN for item in found):
        raise ConfigError(f"{SUBMIT_PLAN!r} is the tool through which plans are handed over; rename yours")
    made = Tools(
        [*(item for item in found if isinstance(item, Tool)), submit_plan],
        context=context,
        workspace=Path(workspace).resolve() if isinstance(workspace, str | Path) else None,
    )
    return refuse_reserved(made)


def for_contract(tools: Toolbox, schema: str, output: Wanted | None = None) -> Toolbox:
    """The tools of a run whose contract has this output schema (empty: none); `output` is what the caller wants."""
    if not schema:
        return tools
    from .tools.reserved import WithOutput

    cls = output.cls if output is not None and schema_digest(output.schema) == schema_digest(schema) else None
    return WithOutput(tools, schema, cls)


def as_defer(defer: Iterable[str], tools: Toolbox | None) -> tuple[str, ...]:
    """Names and patterns of tools that the model has to load first. Raises ConfigError for one that fits no tool.

    tools: those that are there; None checks nothing.
    """
    if isinstance(defer, str):
        raise ConfigError(f"defer takes a list of tools, not the text {defer!r}; write [{defer!r}]")
    wanted = tuple(dict.fromkeys(defer))
    names = [spec.name for spec in tools.specs] if tools else []
    for pattern in wanted if tools else ():
        if not pattern.startswith(LATER) and not any(fnmatchcase(name, pattern) for name in names):
            raise ConfigError(f"defer: no tool fits {pattern!r}; there are: {', '.join(names) or 'none'}")
    return wanted


def searchable(tools: Toolbox, defer: tuple[str, ...]) -> Toolbox:
    """With `tool_search`, where a tool is deferred, or may come to be."""
    if not defer and not any(spec.deferred for spec in tools.specs):
        return tools
    from .tools.deferred import Deferring

    return Deferring(tools, defer)


def as_workspace(workspace: str | Path | Workspace | None, journal: str | Path | Journal | None) -> Workspace | None:
    if not isinstance(workspace, str | Path):
        return workspace
    root = Path(workspace)
    if not root.is_dir():
        raise ConfigError(f"the workspace {str(root)!r} is no folder")
    from .workspace import LocalWorkspace

    beside = [journal] if isinstance(journal, str | Path) else []
    return LocalWorkspace(root, ignored=beside)  # else every commit would make the evidence before it stale


def root_of(workspace: str | Path | Workspace | None) -> str:
    """The folder that is worked on; empty if there is none."""
    root = workspace if isinstance(workspace, str | Path) else getattr(workspace, "root", None)
    return "" if root is None else str(Path(root).resolve())


def apart_of(folder: str) -> str:
    """The folder, if it is an agent's worktree; else nothing."""
    parts = Path(folder).parts
    return folder if (STATE_DIR, "worktrees") in pairwise(parts) else ""


def as_crew(
    agents: "Iterable[Agent]",
    tools: Toolbox,
    make: "MakeLoop",
    journal: Callable[[], Journal],
    *,
    depth: int,
    place: tuple[str, Path],
) -> "Crew | None":
    """Who works for a loop; None if nobody does. `journal` gives the loop's journal as it is now.

    place: the folder that is worked on (empty: none), and where the loop keeps things.
    """
    found = list(agents)
    if not found:
        return None
    from .agents.agent import Agent, check_agents
    from .agents.apart import Apart
    from .agents.crew import Crew

    for item in found:
        if not isinstance(item, Agent):
            raise ConfigError(f"{item!r} is no agent; make one with fsm.Agent(name, description, prompt)")
    if depth < 1:
        raise ConfigError(f"agent_depth is {depth}; it is 1 or more, or give no agents")
    known = [spec.name for spec in tools.specs]
    checked = check_agents(found, known)
    apart = Apart(place[0], place[1])
    for agent in checked:
        if agent.isolation is Isolation.WORKTREE:
            apart.check(agent.name)
    return Crew({agent.name: agent for agent in checked}, make, journal, apart, depth)


def with_crew(tools: Toolbox, crew: "Crew | None") -> Toolbox:
    """The loop's tools, and those with which its agents are called."""
    if crew is None:
        return tools
    from .agents.task import task_tools
    from .tools import Tools
    from .tools.compose import joined

    return joined(tools, Tools(task_tools(crew)))


def as_verifier(verifier: Provider | Verifier | None, make: "MakeLoop") -> Verifier:
    """One of the caller's own, or the built-in one, which asks the given provider (None: the loop's own)."""
    from .agents.verifier import LoopVerifier

    if verifier is not None and hasattr(verifier, "opinion"):
        return cast("Verifier", verifier)
    return LoopVerifier(make, verifier)


def providers_of(
    own: tuple[Provider, ...], verifier: Provider | Verifier | None, crew: "Crew | None"
) -> tuple[Provider, ...]:
    """Everybody whose connections have to be closed, each once."""
    agents = (agent.provider for agent in (crew.agents.values() if crew else ()))
    others = [cast("Provider", each) for each in (verifier, *agents) if each is not None and hasattr(each, "stream")]
    return tuple({id(each): each for each in (*own, *others)}.values())


def settled(contract: Contract, workspace: Workspace | None, verifier: object) -> Contract:
    """With `verify` said: where the contract leaves it open, it is "auto" for a loop that was given a verifier."""
    if contract.verify is not None:
        return contract
    can = verifier is not None and workspace is not None
    return attrs.evolve(contract, verify=Verify.AUTO if can else Verify.NEVER)


def as_permission(permission: Permission | str) -> Permission:
    try:
        return Permission(permission)
    except ValueError:
        raise ConfigError(f"unknown permission {permission!r}; known: {', '.join(Permission)}") from None


def as_prestart(names: Iterable[str], tools: Toolbox) -> frozenset[str]:
    """Names of tools that may start before their turn is committed. Raises ConfigError for one that may not."""
    if isinstance(names, str):
        raise ConfigError(f"prestart={names!r}: give a list of names, such as [{names!r}]")
    wanted = tuple(names)
    fit = [spec.name for spec in tools.specs if spec.read_only and spec.concurrency_safe]
    for name in wanted:
        spec = tools.spec(name)
        if spec is None:
            raise ConfigError(f"prestart: there is no tool {name!r}; those that may be named are: {_listed(fit)}")
        if name not in fit:
            raise ConfigError(
                f"prestart: {name!r} does not declare itself read_only and concurrency_safe, so no call of it may "
                f"start before its turn is committed; those that may be named are: {_listed(fit)}"
            )
    return frozenset(wanted)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def as_rules(rules: Rules | Mapping[str, Iterable[str]] | None, specs: Iterable[ToolSpec] | None) -> Rules:
    """Raises ConfigError for what is no rule, and for a rule about a tool that nobody knows: it would do nothing.

    specs: tools that rules may be about, besides the built-in ones; None looks at no names.
    """
    if rules is None:
        return Rules()
    if not isinstance(rules, Rules):
        if unknown := set(rules) - {"allow", "ask", "deny"}:
            raise ConfigError(f"unknown kind of rules {min(unknown)!r}; known: allow, ask, deny")
        try:
            rules = Rules(**rules)
        except TypeError as error:
            raise ConfigError(str(error)) from error
    present = [spec.name for spec in specs or ()]
    names = (*present, *BUILT_IN)
    for said in (*rules.allow, *rules.ask, *rules.deny):
        rule = parse_rule(said)
        later = any(name.startswith("mcp__") for name in rule.names)
        if specs is not None and not later and not any(rule.names_tool(name) for name in names):
            known = ", ".join(present or BUILT_IN)
            raise ConfigError(f"the rule {said!r} is about no known tool; there are: {known}")
    return rules


def check_contract(contract: Contract, workspace: Workspace | None) -> Contract:
    known = tuple(dict.fromkeys((*KINDS, *(kind for kind, _ in contract.proofs))))
    unknown = [kind for kind in contract.checks if kind not in known]
    if unknown:
        raise ConfigError(
            f"unknown check {unknown[0]!r}; known: {', '.join(known)}. For others, give the command itself."
        )
    if contract.owes_evidence and workspace is None:
        raise ConfigError(
            "the contract asks for checks or a verifier, which are bound to a workspace's revision; give workspace=..."
        )
    return contract
