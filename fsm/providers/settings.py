"""The settings of an HTTP provider, checked before anything is sent."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final

import httpx

from states.errors import ConfigError
from states.records import JSON

OPENAI: Final = "https://api.openai.com/v1"
ANTHROPIC: Final = "https://api.anthropic.com"
OURS: Final = frozenset({"model", "messages", "input", "system", "instructions", "stream", "tools", "tool_choice"})
"""Members of the body that `extra_body` cannot set."""
SECRET_WORDS: Final = ("auth", "key", "token", "secret", "cookie", "password")
"""A header whose name holds one of these has a value that must not be shown."""


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine. A proxy from the environment is not for it."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def secret_headers(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Values that must never be stored or shown, with and without the scheme before them ("Bearer ...")."""
    values = [value for name, value in headers.items() if any(word in name.lower() for word in SECRET_WORDS)]
    return tuple(part for value in values for part in {value, value.rpartition(" ")[2]})


def endpoint(base_url: str, path: str) -> httpx.URL:
    """Where requests go: the base URL as given, with the protocol's path. Raises ConfigError."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"base_url {base_url!r} is no URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(f"base_url {base_url!r} needs http:// or https:// and a host")
    return url.copy_with(path=url.path.rstrip("/") + path)


def bearer(key: str) -> dict[str, str]:
    """OpenAI's way to hand in a key; without one, no header."""
    return {"authorization": f"Bearer {key}"} if key else {}


def request_headers(own: Mapping[str, str], extra: Mapping[str, str]) -> httpx.Headers:
    """The headers of every request: ours, the protocol's `own`, the caller's `extra`.

    Raises ConfigError for what HTTP cannot carry.
    """
    headers = {
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": "interlock",
    }
    headers |= own
    headers |= {name.lower(): value for name, value in extra.items()}
    for name, value in headers.items():
        if not value.isascii() or not value.isprintable():
            raise ConfigError(
                f"the {name} header holds characters that HTTP does not allow; check the API key or headers"
            )
    return httpx.Headers(headers)


def options_of(own: Mapping[str, JSON], extra: Mapping[str, JSON]) -> dict[str, JSON]:
    """The members of the body that stay the same; a None takes one out.

    Raises ConfigError for what the request sets itself.
    """
    taken = sorted(OURS & extra.keys())
    if taken:
        raise ConfigError(f"extra_body cannot set {taken[0]!r}: the request has its own")
    return {name: value for name, value in {**own, **extra}.items() if value is not None}
