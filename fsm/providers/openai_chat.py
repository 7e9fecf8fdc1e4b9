"""OpenAI's chat completions, and the many servers that speak it."""

import os
from collections.abc import Mapping
from typing import Unpack

import attrs

from states.records import JSON

from .http_provider import HttpProvider, WireOptions
from .manners import ReasoningBack, manners_of
from .openai_encode import ChatEncoder
from .openai_fold import DIALECT, ChatFold
from .origin import origin_of
from .settings import OPENAI, bearer, endpoint, options_of, request_headers, secret_headers


class OpenAIChat(HttpProvider):
    """A `Provider` for `POST {base_url}/chat/completions`.

    `base_url` None means OPENAI_BASE_URL, or else OpenAI's own; it is used as given. `api_key` None means the
    environment variable `api_key_env`; without a key no Authorization header is sent. `extra_body` is merged into
    every request (a None removes a member that we set, such as `stream_options`), `headers` are added.
    `reasoning` says whether the server wants its reasoning back; None: what is known of its host (`manners`).
    `wire`: see WireOptions.

    Raises ConfigError if a setting cannot work.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        *,
        extra_body: Mapping[str, JSON] | None = None,
        headers: Mapping[str, str] | None = None,
        reasoning: ReasoningBack | str | None = None,
        **wire: Unpack[WireOptions],
    ) -> None:
        url = endpoint(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI, "/chat/completions")
        key = (api_key if api_key is not None else os.environ.get(api_key_env, "")).strip()
        own: dict[str, JSON] = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
        options = options_of(own, extra_body or {})
        manners = manners_of(url.host)
        if reasoning is not None:
            manners = attrs.evolve(manners, reasoning=ReasoningBack(reasoning))
        origin = origin_of(DIALECT, url)
        super().__init__(
            model,
            url,
            request_headers(bearer(key), headers or {}),
            secrets=(key, *secret_headers(headers or {})),
            encoder=lambda: ChatEncoder(options, manners, origin),
            fold=lambda: ChatFold(origin),
            **wire,
        )
