"""Makes the provider that the settings name; a key goes nowhere that the user did not say."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import attrs

from fsm.config import DIALECTS, FILE, Dialect, Origin, Settings, StandIn
from states.errors import ConfigError
from states.ports import Provider

DEFAULT_PATIENCE: Final = 30.0
"""Seconds of waiting for a provider that is down, before the run rests (that of the adapters)."""


def chain_of(settings: Settings) -> tuple[Provider, ...]:
    """The provider of the settings, and those that stand in for it. Raises ConfigError as `provider_of`."""
    if settings.fallback and settings.record is not None:
        raise ConfigError("--record writes down one provider's turns: leave out --fallback, or --record")
    return (provider_of(settings), *(_stand_in(settings, one) for one in settings.fallback))


def _stand_in(settings: Settings, one: StandIn) -> Provider:
    dialect = DIALECTS[one.provider]
    address = one.base_url or os.environ.get(dialect.base_url, "").strip() or None
    origin = one.base_url_from or (Origin.ENVIRONMENT if address else Origin.DEFAULT)
    try:
        return _asked(
            attrs.evolve(
                settings,
                provider=one.provider,
                model=one.model,
                base_url=address,
                base_url_from=origin,
                api_key_env=one.api_key_env or dialect.key,
            )
        )
    except ConfigError as error:
        raise ConfigError(f"--fallback {one.provider}:{one.model}: {error}") from error


def provider_of(settings: Settings) -> Provider:
    """Raises ConfigError for whatever can be known to be missing without asking a server."""
    provider = _replay(settings) if settings.provider == "replay" else _asked(settings)
    if settings.record is None:
        return provider
    from fsm.providers import Recorder
    from fsm.providers.cassette import BadCassette

    try:
        return Recorder(provider, settings.record)
    except (OSError, BadCassette) as error:
        raise ConfigError(f"--record: {error}") from error


def _replay(settings: Settings) -> Provider:
    from fsm.providers import Replay
    from fsm.providers.cassette import BadCassette, read

    if settings.cassette is None:
        raise ConfigError("--cassette is missing: --provider replay plays a file that --record wrote")
    try:
        read(Path(settings.cassette))
    except BadCassette as error:
        raise ConfigError(f"--cassette: {error}") from error
    return Replay(settings.cassette)


def _asked(settings: Settings) -> Provider:
    import fsm.providers

    dialect = DIALECTS[settings.provider]
    if settings.model is None:
        raise ConfigError(f"--model is missing: name the model, or set model in {FILE}")
    patience = DEFAULT_PATIENCE if settings.patience is None else settings.patience
    if patience < 0:
        raise ConfigError(f"--patience: {patience:g} is less than no waiting at all; give 0 or more seconds")
    if settings.inactivity is not None and settings.inactivity <= 0:
        raise ConfigError(f"--inactivity: {settings.inactivity:g} seconds are no time to answer; give more than 0")
    wire = {} if settings.inactivity is None else {"inactivity": settings.inactivity}
    address = settings.base_url or dialect.default
    make: Callable[..., Provider] = getattr(fsm.providers, dialect.maker)
    return make(settings.model, address, _key(settings, dialect, address), patience=patience, **wire)


def no_key(variable: str, host: str) -> ConfigError:
    """Nothing is asked of a server that is known to want a key where there is none."""
    return ConfigError(
        f"{variable} is not set: {host} asks for a key. Set it, name another variable with "
        "--api-key-env, or another server with --base-url"
    )


def _key(settings: Settings, dialect: Dialect, address: str) -> str:
    """The key for this address, empty where none is needed. Raises ConfigError."""
    from fsm.providers.settings import is_loopback

    host = urlsplit(address).hostname or ""
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key and host == urlsplit(dialect.default).hostname:
        raise no_key(settings.api_key_env, host)
    unconfirmed = settings.base_url_from in (Origin.FILE, Origin.SESSION)
    if key and unconfirmed and not is_loopback(host):
        where = FILE if settings.base_url_from is Origin.FILE else "the session"
        raise ConfigError(
            f"{where} would send the key in {settings.api_key_env} to {host}. A file in a workspace may be "
            f"somebody else's: confirm the address with --base-url, or with {dialect.base_url}"
        )
    return key
