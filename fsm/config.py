"""Settings of a command: flags, then the environment, then `interlock.toml` in the workspace, then defaults."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import attrs

from states.contract import Budget, Contract, Permission, Verify
from states.errors import ConfigError
from states.rules import Rules

from .limits import NO_LIMITS, Limits
from .setup import STATE_DIR
from .trust import is_trusted, trust_file

if TYPE_CHECKING:
    from .hooks.hook import Hook
    from .tools.mcp import MCPServer

FILE: Final = "interlock.toml"
READERS: Final = ("read_file", "list_dir", "glob", "grep")
"""Tools of the workspace that may start while the answer that calls them is streamed."""


@attrs.frozen
class Dialect:
    """A protocol that a model is asked in, and the variables that go with it."""

    maker: str
    """Its class in `fsm.providers`."""
    key: str = "OPENAI_API_KEY"
    base_url: str = "OPENAI_BASE_URL"
    default: str = "https://api.openai.com/v1"


DIALECTS: Final[Mapping[str, Dialect]] = {
    "openai": Dialect("OpenAIChat"),
    "responses": Dialect("OpenAIResponses"),
    "anthropic": Dialect("Anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
}
PROVIDERS: Final = (*DIALECTS, "replay")


@attrs.frozen
class StandIn:
    """A provider that is asked where the one before it does not answer. An address of None is the protocol's own."""

    provider: str
    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    base_url_from: "Origin | None" = None


Numbers = tuple[float, ...]
Pairs = tuple[tuple[str, str], ...] | tuple[tuple[str, int], ...]
Value = str | int | float | tuple[str, ...] | Numbers | Pairs | tuple[StandIn, ...]


LIMITS: Final[Mapping[str, str]] = {
    "max_turns": "max_turns",
    "budget_tokens": "tokens",
    "budget_seconds": "seconds",
    "budget_tool_calls": "max_tool_calls",
    "budget_input_tokens": "input_tokens",
    "budget_output_tokens": "output_tokens",
    "budget_reasoning_tokens": "reasoning_tokens",
    "budget_cost": "cost",
    "budget_delegated": "max_delegated",
    "budget_reserve": "reserve",
}
"""Settings and the limits of `Budget` that they are."""
KINDS_AT_ONCE: Final = ("process", "session", "reads", "effects")
"""Kinds of calls that `[limits]` and `--limit` count (see `Limits`); any other name there is a tool's."""
RULES: Final = ("allow", "ask", "deny")
"""Kinds of rules; in the file they stand under `[permission]`, beside `mode`."""


class Origin(StrEnum):
    """Who said where the model is. An address that only the workspace names gets no key (see `cli.provider`)."""

    DEFAULT = "default"
    FLAG = "flag"
    ENVIRONMENT = "environment"
    FILE = "file"
    SESSION = "session"


@attrs.frozen
class Settings:
    """Everything that a run can be told. None means: not said. Relative paths of the file start at the workspace.

    `budget_seconds`, `patience` and `inactivity` are seconds, `budget_tokens` is input plus output.
    """

    workspace: Path
    journal: str
    """A path, or `:memory:`."""
    provider: str = "openai"
    model: str | None = None
    base_url: str | None = None
    base_url_from: Origin = Origin.DEFAULT
    api_key_env: str = "OPENAI_API_KEY"
    cassette: Path | None = None
    record: Path | None = None
    system: Path | None = None
    style: str = ""
    instructions: bool | None = None
    """Whether the project's files for agents are read; None leaves it to the user's list of trusted folders."""
    memory: Path | None = None
    append_system: Path | None = None
    runtime_context: bool = True
    schema: Path | None = None
    permission: Permission = Permission.ASK
    permission_from: Origin = Origin.DEFAULT
    prestart: tuple[str, ...] = READERS
    require: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    rules: Rules = Rules()
    rules_from_file: Rules = Rules()
    """Those of them that the workspace's file says."""
    hooks: "tuple[Hook, ...]" = ()
    """Commands around tool calls. Only a workspace that the user trusts gets here with any."""
    hooks_file: Path | None = None
    servers: "tuple[MCPServer, ...]" = ()
    """Of the file's `[mcp.NAME]`. Only a workspace that the user trusts gets here with any."""
    at_once: Limits = NO_LIMITS
    """Calls that run side by side."""
    verify: str | None = None
    tools: tuple[str, ...] | None = None
    """Names and patterns of the tools that are offered; None offers all."""
    defer: tuple[str, ...] = ()
    """Names and patterns of the tools whose schemas the model has to load."""
    max_turns: int | None = None
    budget_tokens: int | None = None
    budget_seconds: float | None = None
    budget_tool_calls: int | None = None
    budget_input_tokens: int | None = None
    budget_output_tokens: int | None = None
    budget_reasoning_tokens: int | None = None
    budget_cost: float | None = None
    budget_delegated: int | None = None
    budget_reserve: int | None = None
    price: tuple[float, ...] = ()
    """US dollars per million tokens of the model: input, cached input, output."""
    patience: float | None = None
    inactivity: float | None = None
    fallback: tuple[StandIn, ...] = ()
    window: int | None = None
    checks: tuple[tuple[str, str], ...] = ()
    """The project's own commands by the kind that they prove; only the file can name them."""

    @property
    def contract(self) -> Contract:
        return Contract(checks=self.require, commands=self.check, proofs=self.checks, verify=self.verify)

    def budget(self, base: Budget = Budget()) -> Budget:
        """`base` with the limits that were given. Raises ConfigError."""
        try:
            given = {limit: getattr(self, name) for name, limit in LIMITS.items()}
            return attrs.evolve(base, **{limit: value for limit, value in given.items() if value is not None})
        except ValueError as error:
            raise ConfigError(f"budget: {error}") from error


def key_variables(settings: Settings) -> tuple[str, ...]:
    """Every variable that holds a key of the chain."""
    chain = (one.api_key_env or DIALECTS[one.provider].key for one in settings.fallback)
    return tuple(dict.fromkeys((settings.api_key_env, *chain)))


def _text(value: object) -> Value | None:
    return value if isinstance(value, str) and value.strip() else None


def _count(value: object) -> Value | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> Value | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _price(value: object) -> Value | None:
    try:
        figures = tuple(float(figure) for figure in str(value).strip("[]").split(","))
    except ValueError:
        return None
    return figures if len(figures) in (3, 4) and all(0 <= figure < float("inf") for figure in figures) else None


def _commands(value: object) -> tuple[str, ...] | None:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(command, str) for command in listed):
        return None
    return tuple(listed)


def _proofs(value: object) -> Value | None:
    """Pairs of a kind and a command that proves it."""
    if not isinstance(value, dict):
        return None
    pairs: list[tuple[str, str]] = []
    for kind, listed in value.items():
        commands = _commands(listed)
        if commands is None:
            return None
        pairs += [(str(kind), command) for command in commands]
    return tuple(pairs)


def _at_once(value: object) -> Value | None:
    """Pairs of a kind of calls (or a tool) and how many of it may run at once."""
    if isinstance(value, dict):
        pairs = tuple((str(name), count) for name, count in value.items() if isinstance(_count(count), int))
        return pairs if len(pairs) == len(value) else None
    found = [re.fullmatch(r"([^=\s]+)=(\d{1,9})", text) for text in _listed(value)]
    return tuple((one[1], int(one[2])) for one in found if one) if found and all(found) else None


def at_once(texts: tuple[str, ...]) -> Pairs:
    """What `--limit` says. Raises ConfigError."""
    for text in texts:
        if _at_once((text,)) is None:
            raise ConfigError(f"--limit {text}: write NAME=N with a tool's name or one of {', '.join(KINDS_AT_ONCE)}")
    return cast(Pairs, _at_once(texts))


def limits_of(pairs: Iterable[tuple[str, int]]) -> Limits:
    """Raises ConfigError for less than 1."""
    said = dict(pairs)
    kinds = {kind: said.pop(kind) for kind in KINDS_AT_ONCE if kind in said}
    return Limits(**kinds, tools=said)


def _words(value: object) -> Value | None:
    listed = _commands(value)
    return None if listed is None else comma_list(listed)


def comma_list(values: tuple[str, ...]) -> tuple[str, ...]:
    """The words of several comma lists, in order."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def stand_in(text: str) -> StandIn | None:
    """`PROVIDER:MODEL`, with `@URL` behind it for another server than the protocol's own; None for anything else."""
    provider, _, rest = text.partition(":")
    found = re.fullmatch(r"(.+?)(?:@(https?://\S+))?", rest)
    if provider not in DIALECTS or found is None:
        return None
    return StandIn(provider, found[1], found[2], base_url_from=Origin.FLAG if found[2] else None)


_STAND_IN: Final = frozenset({"provider", "model", "base-url", "api-key-env"})


def _table(said: Mapping[str, object]) -> StandIn | None:
    """A fallback that is written as a table."""
    texts = {name: text for name, text in said.items() if isinstance(text, str) and text.strip()}
    provider = texts.get("provider", "openai")
    if not texts.keys() == said.keys() <= _STAND_IN or "model" not in texts or provider not in DIALECTS:
        return None
    return StandIn(provider, texts["model"], texts.get("base-url"), texts.get("api-key-env"))


def _stand_ins(value: object) -> Value | None:
    found: list[StandIn] = []
    for said in value if isinstance(value, list) else [value]:
        one = stand_in(said) if isinstance(said, str) else _table(said) if isinstance(said, dict) else None
        if one is None:
            return None
        found.append(attrs.evolve(one, base_url_from=Origin.FILE if one.base_url else None))
    return tuple(found)


@attrs.frozen
class _Kind:
    read: Callable[[object], Value | None]
    wanted: str


_TEXT: Final = _Kind(_text, "text in quotes")
_COUNT: Final = _Kind(_count, "a whole number")
_NUMBER: Final = _Kind(_number, "a number")

KEYS: Final[Mapping[str, _Kind]] = {
    "provider": _TEXT,
    "model": _TEXT,
    "base-url": _TEXT,
    "api-key-env": _TEXT,
    "cassette": _TEXT,
    "record": _TEXT,
    "journal": _TEXT,
    "fallback": _Kind(
        _stand_ins,
        "tables [[fallback]] of provider, model, base-url, api-key-env; or texts PROVIDER:MODEL[@URL]",
    ),
    "window": _COUNT,
    "permission": _TEXT,
    **dict.fromkeys(RULES, _Kind(_commands, 'a list of rules such as ["bash(git status*)"]')),
    "system": _TEXT,
    "style": _TEXT,
    "memory": _TEXT,
    "append-system": _TEXT,
    "runtime-context": _TEXT,
    "hooks-file": _TEXT,
    "schema": _TEXT,
    "prestart": _Kind(_words, 'a list of tools such as ["read_file"], or []'),
    "require": _Kind(_words, 'a list such as ["test", "lint"]'),
    "tools": _Kind(_words, 'a list such as ["read_file", "grep"]'),
    "defer": _Kind(_words, 'a list such as ["mcp__*"]'),
    "checks": _Kind(_proofs, 'commands per kind, such as [checks] with test = ["./run_tests.sh"]'),
    "check": _Kind(_commands, 'a list of commands such as ["pytest -q"]'),
    "verify": _TEXT,
    "max-turns": _COUNT,
    "budget-tokens": _COUNT,
    "budget-seconds": _NUMBER,
    "budget-tool-calls": _COUNT,
    "budget-input-tokens": _COUNT,
    "budget-output-tokens": _COUNT,
    "budget-reasoning-tokens": _COUNT,
    "budget-cost": _NUMBER,
    "budget-delegated": _COUNT,
    "budget-reserve": _COUNT,
    "price": _Kind(
        _price,
        'three numbers or four, such as "1.25,0.125,10": input, cached input, output, input that is written to a cache',
    ),
    "patience": _NUMBER,
    "inactivity": _NUMBER,
    "limits": _Kind(_at_once, "calls at once, such as process = 8 or bash = 1 (as a flag, --limit bash=1)"),
}
"""What `interlock.toml` may say: the names are those of the flags."""

_PATHS: Final = frozenset(
    {"cassette", "record", "journal", "system", "memory", "append-system", "hooks-file", "schema"}
)


def read_file(workspace: Path) -> dict[str, Value]:
    """What the workspace's file says; nothing if there is none. Raises ConfigError, naming the key."""
    path = workspace / FILE
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    permission = said.get("permission")
    if isinstance(permission, dict):
        del said["permission"]
        for key in permission:
            if key not in ("mode", *RULES):
                raise ConfigError(f"{path}: unknown setting {key!r} in [permission]; known: mode, {', '.join(RULES)}")
        said |= {"permission" if key == "mode" else key: value for key, value in permission.items()}
    elif misplaced := [key for key in RULES if key in said]:
        raise ConfigError(f"{path}: {misplaced[0]} stands under [permission], where the mode is called mode")
    return {key: _value(path, key, value) for key, value in said.items() if key not in ("hooks", "mcp")}


def _table_of(workspace: Path, name: str) -> object:
    """A table of the workspace's file, as it stands there; None if there is none."""
    path = workspace / FILE
    found: object = tomllib.loads(path.read_text(encoding="utf-8")).get(name) if path.is_file() else None
    return found


def _servers(said: object, workspace: Path, environment: Mapping[str, str]) -> "tuple[MCPServer, ...]":
    from .tools.mcp.settings import read_servers

    return read_servers(said, str(workspace / FILE), workspace.resolve(), environment)


def _programs(said: object) -> list[str]:
    """What the tables of MCP servers would start or speak to, as it stands in the file."""
    if not isinstance(said, dict):
        return [] if said is None else [str(said)]
    tables = (table if isinstance(table, dict) else {} for table in said.values())
    return [f"{name} ({table.get('command') or table.get('url')})" for name, table in zip(said, tables, strict=True)]


def hooks_of(workspace: Path, hooks_file: Path | None) -> "tuple[Hook, ...]":
    """The hooks of the workspace's file, and of a file that is named. Raises ConfigError."""
    from .hooks.settings import read_hooks, read_hooks_file

    said = _table_of(workspace, "hooks")
    own = () if said is None else read_hooks(said, str(workspace / FILE))
    return (*own, *(read_hooks_file(hooks_file) if hooks_file else ()))


def _value(path: Path, key: str, value: object) -> Value:
    if key not in KEYS:
        raise ConfigError(f"{path}: unknown setting {key!r}; known: {', '.join(KEYS)}")
    kind = KEYS[key]
    read = kind.read(value)
    if read is None:
        raise ConfigError(f"{path}: {key} = {value!r} will not do; it takes {kind.wanted}")
    return read


def settings(flags: Mapping[str, Value | None], environment: Mapping[str, str]) -> Settings:
    """What a command goes by. `flags` are named as in KEYS, and `workspace`; None or () means: not given.

    Raises ConfigError.
    """
    workspace = Path(str(flags.get("workspace") or "."))
    if not workspace.is_dir():
        raise ConfigError(f"--workspace: {str(workspace)!r} is no folder")
    found = read_file(workspace)
    given = {key: value for key, value in flags.items() if value not in (None, ())}
    merged: dict[str, Value | Path] = {key: _path(workspace, key, value) for key, value in found.items()}
    dialect = DIALECTS.get(str(given.get("provider") or found.get("provider")), DIALECTS["openai"])
    from_environment = environment.get(dialect.base_url, "").strip()
    if from_environment:
        merged["base-url"] = from_environment
    merged |= {key: Path(str(value)) if key in _PATHS - {"journal"} else value for key, value in given.items()}
    merged["workspace"] = workspace
    merged["journal"] = str(merged.get("journal", workspace / STATE_DIR / "journal.db"))
    if any(not command.strip() for command in _listed(merged.get("check"))):
        raise ConfigError("--check: an empty command checks nothing; give one such as 'pytest -q'")
    if isinstance(merged.get("price"), str):
        merged["price"] = _value(Path("--price"), "price", merged["price"])
    if merged.get("prestart") == ("none",):
        merged["prestart"] = ()
    merged["check"] = tuple(command.strip() for command in _listed(merged.get("check")))
    _check_choice("provider", merged, PROVIDERS)
    _check_choice("permission", merged, tuple(Permission))
    _check_choice("verify", merged, tuple(Verify))
    merged.setdefault("api-key-env", dialect.key)
    fields: dict[str, object] = {key.replace("-", "_"): value for key, value in merged.items()}
    fields["permission"] = Permission(str(merged.get("permission", Permission.ASK)))
    hooks_file = Path(str(merged["hooks-file"])) if "hooks-file" in merged else None
    trust = _Trust(flags, workspace, environment)
    hooks, servers = hooks_of(workspace, hooks_file), _table_of(workspace, "mcp")
    fields["hooks"] = hooks if trust.allows("hooks", _HOOKS, [hook.name for hook in hooks]) else ()
    started = trust.allows("mcp", _SERVERS, _programs(servers))
    fields["servers"] = _servers(servers, workspace, environment) if started else ()
    for name in ("limits", "mcp"):
        fields.pop(name, None)
    fields["at_once"] = limits_of((*_pairs(found.get("limits")), *_pairs(given.get("limits"))))
    _check_choice("runtime-context", merged, ("on", "off"))
    fields["runtime_context"] = merged.get("runtime-context") != "off"
    fields["instructions"] = _INSTRUCTIONS[str(flags.get("instructions") or "")]
    if "memory" not in given and not trust.allows(
        "instructions", _MEMORY, [str(found["memory"])] if "memory" in found else []
    ):
        fields.pop("memory", None)
    fields["rules"] = Rules(*(_listed(found.get(kind)) + _listed(given.get(kind)) for kind in RULES))
    fields["rules_from_file"] = Rules(*(_listed(found.get(kind)) for kind in RULES))
    for kind in RULES:
        fields.pop(kind, None)
    fields["permission_from"] = _origin("permission", given, "", found)
    fields["base_url_from"] = _origin("base-url", given, from_environment, found)
    return Settings(**fields)  # type: ignore[arg-type]  # every value was checked against its key's kind


_HOOKS: Final = "hooks, which run commands on this machine"
_SERVERS: Final = "MCP servers, which are started on this machine or told what the model tells them"
_MEMORY: Final = "a memory, whose words the model would read"


@attrs.frozen
class _Trust:
    """What of the workspace's file may run. `flags` say so for once, a list of the user's own for good."""

    flags: Mapping[str, Value | None]
    workspace: Path
    environment: Mapping[str, str]

    def allows(self, flag: str, what: str, names: Iterable[str]) -> bool:
        """Whether they are wanted: only commands that have the flag run any.

        Raises ConfigError if the user does not trust them: a cloned repository must not run commands unasked.
        """
        named = "; ".join(names)
        if not named or flag not in self.flags or self.flags[flag] == "off":
            return False
        if self.flags[flag] != "trust" and not is_trusted(self.workspace, self.environment):
            raise ConfigError(
                f"{self.workspace / FILE} has {what}: {named}. Look at them, then give --{flag} trust, or write "
                f"{str(self.workspace.resolve())!r} into {trust_file(self.environment)}; --{flag} off runs none"
            )
        return True


def _pairs(value: Value | None) -> tuple[tuple[str, int], ...]:
    return cast(tuple[tuple[str, int], ...], value or ())


_INSTRUCTIONS: Final[Mapping[str, bool | None]] = {"": None, "trust": True, "off": False}


def _listed(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _path(workspace: Path, key: str, value: Value) -> Value | Path:
    return workspace / str(value) if key in _PATHS and value != ":memory:" else value


def _check_choice(key: str, merged: Mapping[str, object], known: tuple[str, ...]) -> None:
    if key in merged and merged[key] not in known:
        raise ConfigError(f"unknown {key} {merged[key]!r}; known: {', '.join(known)}")


def _origin(key: str, given: Mapping[str, object], variable: str, found: Mapping[str, object]) -> Origin:
    if key in given:
        return Origin.FLAG
    if variable:
        return Origin.ENVIRONMENT
    return Origin.FILE if key in found else Origin.DEFAULT
