"""OpenAI's Responses without state on the server: everything is sent, and reasoning comes back encrypted."""

import os
import re
from collections.abc import Mapping
from typing import Final, Unpack

from states.records import JSON

from .http_provider import HttpProvider, WireOptions
from .origin import origin_of
from .responses_encode import ResponsesEncoder
from .responses_fold import DIALECT, ResponsesFold
from .settings import OPENAI, bearer, endpoint, options_of, request_headers, secret_headers

PLAIN: Final = re.compile(r"(gpt-3|gpt-4|chatgpt-4)")
"""Models that do not reason: OpenAI refuses to include encrypted reasoning for them."""


class OpenAIResponses(HttpProvider):
    """A `Provider` for `POST {base_url}/responses` with `store: false`.

    `base_url`, `api_key`, `api_key_env`, `extra_body` and `headers` as for OpenAIChat. Encrypted reasoning is asked for
    unless the model's name says that it does not reason; `extra_body={"include": None}` takes that out. `wire`: see
    WireOptions.

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
        **wire: Unpack[WireOptions],
    ) -> None:
        url = endpoint(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI, "/responses")
        key = (api_key if api_key is not None else os.environ.get(api_key_env, "")).strip()
        own: dict[str, JSON] = {"model": model, "stream": True, "store": False}
        if not PLAIN.match(model):
            own["include"] = ["reasoning.encrypted_content"]
        options = options_of(own, extra_body or {})
        origin = origin_of(DIALECT, url)
        super().__init__(
            model,
            url,
            request_headers(bearer(key), headers or {}),
            secrets=(key, *secret_headers(headers or {})),
            encoder=lambda: ResponsesEncoder(options, origin),
            fold=lambda: ResponsesFold(origin),
            **wire,
        )
