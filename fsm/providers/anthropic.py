"""Anthropic's Messages, and the servers that speak it."""

import os
from collections.abc import Mapping
from typing import Final, Literal, Unpack

from states.errors import ConfigError
from states.records import JSON

from .anthropic_encode import MessagesEncoder
from .anthropic_fold import DIALECT, MessagesFold
from .http_provider import HttpProvider, WireOptions
from .origin import origin_of
from .settings import ANTHROPIC, endpoint, options_of, request_headers, secret_headers

VERSION: Final = "2023-06-01"
"""Of the protocol (header `anthropic-version`): the newest that Anthropic documents."""
MAX_TOKENS: Final = 8192
"""Tokens of an answer, which this protocol wants said (our choice: every model since Claude 3.5 allows it)."""
LEAST_THINKING: Final = 1024
"""Smallest thinking budget that Anthropic accepts."""


class Anthropic(HttpProvider):
    """A `Provider` for `POST {base_url}/v1/messages`.

    `base_url` None means ANTHROPIC_BASE_URL, or else Anthropic's own; it may end in /v1. `api_key` None means the
    environment variable `api_key_env`. `max_tokens` bounds an answer, thinking included. `thinking` is the budget in
    tokens (at least 1024, less than `max_tokens`), or "adaptive" for models that decide themselves; None asks for
    none. `cache` marks the stable prefix for Anthropic's prompt cache. `extra_body` is merged into every request,
    `headers` are added (`anthropic-beta`). `wire`: see WireOptions.

    Raises ConfigError if a setting cannot work.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str = "ANTHROPIC_API_KEY",
        *,
        max_tokens: int = MAX_TOKENS,
        thinking: int | Literal["adaptive"] | None = None,
        cache: bool = True,
        extra_body: Mapping[str, JSON] | None = None,
        headers: Mapping[str, str] | None = None,
        **wire: Unpack[WireOptions],
    ) -> None:
        base = (base_url or os.environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC).rstrip("/")
        url = endpoint(base, "/messages" if base.endswith("/v1") else "/v1/messages")
        key = (api_key if api_key is not None else os.environ.get(api_key_env, "")).strip()
        own: dict[str, JSON] = {"model": model, "max_tokens": max_tokens, "stream": True}
        options = options_of(own, extra_body or {})
        thinks = _thinking(thinking, max_tokens)
        origin = origin_of(DIALECT, url)
        signed = origin == DIALECT
        protocol = {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})
        super().__init__(
            model,
            url,
            request_headers(protocol, headers or {}),
            secrets=(key, *secret_headers(headers or {})),
            encoder=lambda: MessagesEncoder(options, origin, thinking=thinks, cache=cache),
            fold=lambda: MessagesFold(origin, signed=signed),
            **wire,
        )


def _thinking(wanted: int | Literal["adaptive"] | None, max_tokens: int) -> Mapping[str, JSON] | None:
    if wanted is None:
        return None
    if wanted == "adaptive":
        return {"type": "adaptive"}
    if not LEAST_THINKING <= wanted < max_tokens:
        raise ConfigError(
            f"thinking={wanted}: the budget must be at least {LEAST_THINKING} and less than max_tokens ({max_tokens})"
        )
    return {"type": "enabled", "budget_tokens": wanted}
