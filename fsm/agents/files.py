"""Agents that are described in files: front matter in YAML, then the prompt."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from states.contract import Budget, Isolation
from states.errors import ConfigError
from states.ports import Provider

from .agent import Agent

FOLDER: Final = "agents"
"""Below `.interlock` in the workspace; one `NAME.md` for each agent."""
_PARTS: Final = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*\n?(.*)\Z", re.DOTALL | re.MULTILINE)
_KEYS: Final = ("name", "description", "tools", "model", "permission", "budget", "isolation")
_LIMITS: Final = tuple(field.name for field in attrs.fields(Budget))

ProviderFor = Callable[[str], Provider]
"""Makes the provider for a model's name."""


def load_agents(folder: Path | str, provider_for: ProviderFor | None = None) -> list[Agent]:
    """The agents of `folder` (`*.md`, by name); none if it is not there.

    A file begins with `---`, the keys name (by default the file's), description, tools (a list, or names with commas),
    model, permission, budget (max_turns, tokens, ...) and isolation, and `---`; what follows is the prompt.
    `provider_for` is needed where a file names a model. Raises ConfigError, naming the file.
    """
    return [_agent(path, provider_for) for path in sorted(Path(folder).glob("*.md"))]


def _agent(path: Path, provider_for: ProviderFor | None) -> Agent:
    try:
        head, prompt = _read(path)
        return Agent(
            str(head.get("name", path.stem)),
            str(head.get("description", "")),
            prompt.strip(),
            _tools(head.get("tools")),
            _provider(head.get("model"), provider_for),
            head.get("permission"),
            _budget(head.get("budget")),
            isolation=head.get("isolation") or Isolation.NONE,
        )
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _provider(model: object, provider_for: ProviderFor | None) -> Provider | None:
    if model in (None, "inherit"):
        return None
    if provider_for is None:
        raise ConfigError(f"it names the model {model!r}; give load_agents a provider_for=..., or leave model out")
    return provider_for(str(model))


def _read(path: Path) -> tuple[Mapping[str, Any], str]:
    import yaml

    parts = _PARTS.match(path.read_text(encoding="utf-8").replace("\r\n", "\n"))
    if parts is None:
        raise ConfigError(
            "it must begin with front matter: a line ---, `description: ...`, a line ---, then the prompt"
        )
    try:
        head = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        raise ConfigError(f"its front matter is no YAML: {error}") from error
    if not isinstance(head, dict):
        raise ConfigError("its front matter has no keys; it needs at least `description: ...`")
    unknown = next((key for key in head if key not in _KEYS), None)
    if unknown is not None:
        raise ConfigError(f"unknown key {unknown!r}; known: {', '.join(_KEYS)}")
    return head, parts[2]


def _tools(given: object) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"tools: {given!r} is no list of names")
    return tuple(name.strip() for name in names if name.strip())


def _budget(given: object) -> Budget:
    if given is None:
        return Budget()
    if not isinstance(given, dict) or not set(given) <= set(_LIMITS):
        raise ConfigError(f"budget: {given!r} is no mapping of {', '.join(_LIMITS)}")
    try:
        return Budget(**given)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"budget: {error}") from error
