"""Makes the provider that the settings name; a key goes nowhere that the user did not say."""

import os
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from fsm.config import FILE, Origin, Settings
from states.errors import ConfigError
from states.ports import Provider

DEFAULT_PATIENCE: Final = 30.0
"""Seconds of waiting for a provider that is down, before the run rests (that of OpenAIChat)."""


def provider_of(settings: Settings) -> Provider:
    """Raises ConfigError for whatever can be known to be missing without asking a server."""
    provider = _replay(settings) if settings.provider == "replay" else _openai(settings)
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


def _openai(settings: Settings) -> Provider:
    from fsm.providers import OpenAIChat
    from fsm.providers.settings import OPENAI

    if settings.model is None:
        raise ConfigError(f"--model is missing: name the model, or set model in {FILE}")
    patience = DEFAULT_PATIENCE if settings.patience is None else settings.patience
    if patience < 0:
        raise ConfigError(f"--patience: {patience:g} is less than no waiting at all; give 0 or more seconds")
    address = settings.base_url or OPENAI
    return OpenAIChat(settings.model, address, _key(settings, address), patience=patience)


def _key(settings: Settings, address: str) -> str:
    """The key for this address, empty where none is needed. Raises ConfigError."""
    from fsm.providers.settings import OPENAI, is_loopback

    host = urlsplit(address).hostname or ""
    key = os.environ.get(settings.api_key_env, "").strip()
    if not key and host == urlsplit(OPENAI).hostname:
        raise ConfigError(
            f"{settings.api_key_env} is not set: OpenAI asks for a key. Set it, name another variable with "
            "--api-key-env, or another server with --base-url"
        )
    unconfirmed = settings.base_url_from in (Origin.FILE, Origin.SESSION)
    if key and unconfirmed and not is_loopback(host):
        where = FILE if settings.base_url_from is Origin.FILE else "the session"
        raise ConfigError(
            f"{where} would send the key in {settings.api_key_env} to {host}. A file in a workspace may be "
            f"somebody else's: confirm the address with --base-url, or with OPENAI_BASE_URL"
        )
    return key
