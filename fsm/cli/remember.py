"""Keeps beside the journal which server a session's model was asked at and what it is told besides, for a resume.

No secret is kept: a key is named by its variable, and an address with a password in it is left out.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import orjson

from fsm.config import Origin, Settings, StandIn, settings
from fsm.tools.state_dir import file_name, write_durably
from states.errors import ConfigError
from states.history import History

from .terminal import say

_TOLD: Final = ("style", "instructions", "memory", "append_system", "runtime_context")
KEPT: Final = (
    *("provider", "model", "base_url", "api_key_env", "cassette", "patience", "inactivity", "fallback", "window"),
    *_TOLD,
)
_PATHS: Final = ("cassette", "memory", "append_system")


def _file(journal: str, session: str) -> Path:
    return Path(f"{journal}.settings") / f"{file_name(session)}.json"


def remember(chosen: Settings, session: str) -> None:
    """Write it down; a failure is only said, since the run can go on without."""
    if chosen.journal == ":memory:":
        return
    known = {name: getattr(chosen, name) for name in KEPT}
    if chosen.base_url and urlsplit(chosen.base_url).password:
        known["base_url"] = None
    known["fallback"] = [_plain(one) for one in chosen.fallback] or None
    known |= {name: str(known[name].resolve()) for name in _PATHS if known[name]}
    file = _file(chosen.journal, session)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_durably(file, orjson.dumps({name: value for name, value in known.items() if value is not None}) + b"\n")
    except OSError as error:
        say(f"{file} cannot be written ({error}): a resume will have to name the server again", "yellow")


def recall(flags: Mapping[str, Any], environment: Mapping[str, str], past: History) -> Settings:
    """Settings to go on with: flags, then what the session had, then environment and file. Raises ConfigError."""
    chosen = settings(flags, environment)
    if not flags.get("workspace") and past.started and past.started.workspace:
        chosen = settings({**flags, "workspace": past.started.workspace, "journal": chosen.journal}, environment)
    kept = _kept(chosen.journal, past.session)
    if flags.get("provider") and flags["provider"] != kept.get("provider"):
        kept = {
            name: kept[name] for name in _TOLD if name in kept
        }  # nothing of the old one's address or key goes to it
    kept = {name: value for name, value in kept.items() if not flags.get(_key(name))}
    if kept.get("base_url") not in (None, chosen.base_url):
        kept["base_url_from"] = Origin.SESSION
    if "fallback" in kept:
        kept["fallback"] = tuple(_stand_in(one, chosen) for one in kept["fallback"])
    kept |= {name: Path(str(kept[name])) for name in _PATHS if name in kept}
    if past.started and chosen.model is None:
        kept.setdefault("model", past.started.model)
    return attrs.evolve(chosen, **kept)


def pass_on(journal: str, session: str, other: str) -> None:
    """Another session of the journal asks the same server; without anything kept, it has to be told."""
    with suppress(OSError):
        write_durably(_file(journal, other), _file(journal, session).read_bytes())


def forget(journal: str, session: str) -> None:
    """Remove what is kept for a session."""
    _file(journal, session).unlink(missing_ok=True)


def _plain(one: StandIn) -> dict[str, str]:
    secret = one.base_url and urlsplit(one.base_url).password
    said = {"provider": one.provider, "model": one.model, "api_key_env": one.api_key_env}
    return {name: value for name, value in {**said, "base_url": None if secret else one.base_url}.items() if value}


def _stand_in(kept: Mapping[str, str], chosen: Settings) -> StandIn:
    """A fallback as the session had it. What the flags and the file do not say too has to be confirmed for a key."""
    one = StandIn(kept["provider"], kept["model"], kept.get("base_url"), kept.get("api_key_env"))
    said = next((known for known in chosen.fallback if _plain(known) == _plain(one)), None)
    return said or attrs.evolve(one, base_url_from=Origin.SESSION if one.base_url else None)


def _key(field: str) -> str:
    return field.replace("_", "-")


def _kept(journal: str, session: str) -> dict[str, Any]:
    file = _file(journal, session)
    try:
        kept = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read: {error}. Remove it, and name the server with flags") from error
    if not isinstance(kept, dict) or not kept.keys() <= set(KEPT):
        raise ConfigError(f"{file} is not what a session keeps there. Remove it, and name the server with flags")
    return kept
