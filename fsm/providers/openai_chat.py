"""OpenAI's chat completions, and the many servers that speak it: streamed, retried, never silently cut."""

import asyncio
import os
import random
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import cache
from typing import Final, cast

import httpx

from fsm.redact import Redactor
from states.ports import ProviderTrouble, ReasoningDelta, Reply, Request, RetryNotice, TextDelta
from states.records import JSON, Trouble

from .answer import Answer
from .backoff import Patience, retry_after
from .faults import Fault, of_response
from .lanes import Lanes
from .openai_encode import ConversationEncoder
from .settings import OPENAI, endpoint, is_loopback, options_of, request_headers, secret_headers

KEEP_ALIVE: Final = 60.0
"""Seconds that an idle connection is kept, so that the turn after a slow tool reuses it (our choice)."""
ERROR_BODY: Final = 64 * 1024
"""Bytes of an error's body that are read (our choice)."""
LAST_BYTES: Final = 0.25
"""Seconds to wait for the end of the body after `[DONE]`; it lets the connection be used again (our choice)."""


class OpenAIChat:
    """A `Provider` for `POST {base_url}/chat/completions`.

    `base_url` None means OPENAI_BASE_URL, or else OpenAI's own; it is used as given. `api_key` None means the
    environment variable `api_key_env`; without a key no Authorization header is sent. `patience` is how many seconds
    of waiting are spent on repeated attempts before a turn fails as DOWN; `inactivity` how many seconds may pass
    without a byte (a total timeout does not exist: long answers are not cut); `connect` the seconds for a connection.
    `extra_body` is merged into every request (a None removes a member that we set, such as `stream_options`),
    `headers` are added. `return_reasoning` sends reasoning back, for servers that demand it (DeepSeek's reasoner).
    `client`, `rng` and `sleep` replace the HTTP client's factory, the jitter's source and the waiting.

    Raises ConfigError if a setting cannot work.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        *,
        patience: float = 30.0,
        inactivity: float = 120.0,
        connect: float = 10.0,
        extra_body: Mapping[str, JSON] | None = None,
        headers: Mapping[str, str] | None = None,
        return_reasoning: bool = False,
        client: Callable[[], httpx.AsyncClient] | None = None,
        rng: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._url = endpoint(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI)
        key = (api_key if api_key is not None else os.environ.get(api_key_env, "")).strip()
        self._headers = request_headers(key, headers or {})
        password = self._url.password
        self._secrets = tuple(filter(None, (key, password, *secret_headers(headers or {}))))
        self._redactor = Redactor(self._secrets)
        self._patience = patience
        self._timeout = httpx.Timeout(inactivity, connect=connect, pool=None)
        self._rng = rng or random.Random()  # noqa: S311  jitter, not a secret
        self._sleep = sleep
        options = options_of(model, extra_body or {})
        self._lanes = Lanes(
            client or self._new_client, lambda: ConversationEncoder(options, return_reasoning=return_reasoning)
        )

    @property
    def model(self) -> str:
        return self._model

    @property
    def secrets(self) -> Sequence[str]:
        return self._secrets

    async def close(self) -> None:
        """Close the connections that belong to the running event loop."""
        await self._lanes.close()

    async def stream(self, request: Request) -> AsyncGenerator[TextDelta | ReasoningDelta | RetryNotice | Reply]:
        """Deltas, then exactly one Reply, with its connection already given back. Raises ProviderTrouble."""
        async with self._lanes.use(request.session) as lane:
            body = lane.encoder.body(request)
            patience = Patience(self._patience, self._rng)
            while True:
                answer = Answer()
                response: httpx.Response | None = None
                try:
                    response = await lane.client.send(self._request(body), stream=True, follow_redirects=False)
                    await _refuse_errors(response)
                    async with aclosing(_pieces(response)) as pieces:
                        async for piece in pieces:
                            for delta in answer.feed(piece):
                                yield delta
                            if answer.done:
                                await _drain(pieces)
                                break
                    for delta in answer.rest():
                        yield delta
                    reply = answer.reply()
                    break
                except httpx.RequestError as error:
                    if answer.whole:
                        reply = answer.reply()
                        break
                    fault = self._unreachable(error)
                except Fault as error:
                    fault = error
                finally:
                    if response is not None:
                        await response.aclose()
                notice = self._again(fault, patience, seen=answer.seen)
                yield notice
                await self._sleep(notice.delay)
        yield reply

    def _again(self, fault: Fault, patience: Patience, *, seen: bool) -> RetryNotice:
        """The notice of another attempt, or the end of the turn as ProviderTrouble."""
        message = self._redactor.text(f"{self._url.host}: {fault.message}")
        if seen:
            raise ProviderTrouble(Trouble.CUT, message, fault.status) from None
        if fault.trouble is not None:
            raise ProviderTrouble(fault.trouble, message, fault.status) from None
        left, attempts = patience.left, patience.attempt
        delay = patience.next(fault.after)
        if delay is None:
            asked = fault.after is not None and fault.after > left
            why = f"it asks to wait {fault.after:g} s, more than the {left:.3g} s left" if asked else "giving up"
            raise ProviderTrouble(Trouble.DOWN, f"{message} ({why}, after {attempts} attempts)", fault.status) from None
        return RetryNotice(patience.attempt, delay, message)

    def _request(self, body: bytes) -> httpx.Request:
        extensions = {"timeout": self._timeout.as_dict()}
        return httpx.Request("POST", self._url, headers=self._headers, content=body, extensions=extensions)

    def _unreachable(self, error: httpx.RequestError) -> Fault:
        """A transport's failure, in words. A certificate that does not verify will not get better by waiting."""
        timeout = self._timeout
        match error:
            case httpx.ConnectTimeout():
                return Fault(None, f"no connection within {timeout.connect:g} s")
            case httpx.TimeoutException():
                return Fault(None, f"not a byte for {timeout.read:g} s")
            case httpx.ConnectError() if isinstance(_root(error), ssl.SSLCertVerificationError):
                return Fault(Trouble.REFUSED, f"the server's certificate is not trusted: {_root(error)}")
            case httpx.ConnectError():
                return Fault(None, f"no connection: {error}")
            case httpx.LocalProtocolError():
                return Fault(Trouble.REFUSED, f"the request cannot be sent: {error}")
            case _:
                return Fault(None, f"the connection broke: {str(error) or type(error).__name__}")

    def _new_client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=_tls(verify=self._url.scheme == "https"),
            trust_env=not is_loopback(self._url.host),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE),
            timeout=self._timeout,
        )


async def _refuse_errors(response: httpx.Response) -> None:
    """Raise the Fault of a response that is no 2xx."""
    status = response.status_code
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        target = response.headers.get("location", "nowhere")
        raise Fault(Trouble.REFUSED, f"HTTP {status}: redirects are not followed; set the base URL to {target}", status)
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > ERROR_BODY:
            break
    raise of_response(status, body, retry_after(response.headers))


def _pieces(response: httpx.Response) -> AsyncGenerator[bytes]:
    """The body as it comes from the network, decompressed if a proxy compressed it against our word."""
    cooked = response.is_stream_consumed or "content-encoding" in response.headers
    pieces = response.aiter_bytes() if cooked else response.aiter_raw()
    return cast("AsyncGenerator[bytes]", pieces)  # httpx declares less than it gives


async def _drain(pieces: AsyncGenerator[bytes]) -> None:
    """Read to the end of the body if it is near."""
    try:
        async with asyncio.timeout(LAST_BYTES):
            async for _ in pieces:
                pass
    except (TimeoutError, httpx.RequestError):
        return


def _root(error: BaseException) -> BaseException:
    """The first cause in a chain of exceptions."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


@cache
def _tls(*, verify: bool) -> ssl.SSLContext:
    """One context for all clients: making one with certificates costs tens of milliseconds; plain HTTP needs none."""
    return httpx.create_ssl_context() if verify else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
