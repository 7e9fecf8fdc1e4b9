"""One turn over HTTP: asked, asked again while nothing of an answer was seen, never silently cut."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, TypedDict, Unpack

import httpx

from fsm.redact import Redactor
from states.messages import Usage
from states.ports import ProviderTrouble, Request, RetryNotice, StreamItem
from states.records import Trouble

from .answer import Answer
from .backoff import Patience
from .client import new_client
from .encoder import Encoder
from .faults import Fault
from .fold import Fold
from .growth import Growth
from .http_response import pieces_of, refuse_errors, unreachable
from .lanes import Lanes
from .silence import Silence
from .sse import MAX_STREAM
from .traffic import Hold, Traffic

LAST_BYTES: Final = 0.25
"""Seconds to wait for the end of the body after the end mark; it lets the connection be used again (our choice)."""


class WireOptions(TypedDict, total=False):
    """How every HTTP provider behaves on the wire. All times are seconds."""

    patience: float
    """What failed attempts and the waits between them may take before a turn is DOWN. [30]"""
    connect: float
    """For a connection. [10]"""
    headers_within: float
    """From the request to the response's headers. [120]"""
    first_token: float
    """Without a byte before the first part of the answer; keep-alives are bytes. [600, as the official clients]"""
    inactivity: float
    """Without a byte after that. A total timeout does not exist: long answers are not cut. [300]"""
    progress: float
    """With bytes that add nothing to the answer, such as keep-alives. [3600: some models think for half an hour]"""
    largest: int
    """Bytes of one answer, unpacked; a single event may be a quarter of it. [64 MiB]"""
    grace: float
    """For usage and the end mark to come, once the provider said why it ended. [2]"""
    traffic: Traffic | None
    """Shared with other providers that ask the same server under the same key. [this provider's own]"""
    concurrency: int | None
    """Requests under way at once, where `traffic` is not given. [no limit]"""
    client: Callable[[], httpx.AsyncClient] | None
    """Makes the HTTP client of a session."""
    rng: random.Random | None
    """The jitter's source."""
    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float]
    """Seconds that never go back."""


class HttpProvider:
    """A `Provider` at a URL, in the protocol that `encoder` writes and `fold` reads. One serves many sessions."""

    def __init__(
        self,
        model: str,
        url: httpx.URL,
        headers: httpx.Headers,
        *,
        secrets: Sequence[str],
        encoder: Callable[[], Encoder],
        fold: Callable[[], Fold],
        **wire: Unpack[WireOptions],
    ) -> None:
        self._model = model
        self._url = url
        self._headers = headers
        self._secrets = tuple(filter(None, (*secrets, url.password)))
        self._redactor = Redactor(self._secrets)
        self._fold = fold
        self._patience = wire.get("patience", 30.0)
        self._connect = wire.get("connect", 10.0)
        self._headers_within = wire.get("headers_within", 120.0)
        self._first_token = wire.get("first_token", 600.0)
        self._inactivity = wire.get("inactivity", 300.0)
        self._progress = wire.get("progress", 3600.0)
        self._largest = wire.get("largest", MAX_STREAM)
        self._grace = wire.get("grace", 2.0)
        self._traffic = wire.get("traffic") or Traffic(wire.get("concurrency"))
        self._rng = wire.get("rng") or random.Random()  # noqa: S311  jitter, not a secret
        self._sleep = wire.get("sleep", asyncio.sleep)
        self._clock = wire.get("clock", time.monotonic)
        timeout = httpx.Timeout(None, connect=self._connect)
        self._extensions = {"timeout": timeout.as_dict()}
        self._lanes = Lanes(wire.get("client") or (lambda: new_client(url, timeout)), encoder)

    @property
    def model(self) -> str:
        return self._model

    @property
    def url(self) -> httpx.URL:
        """Where requests go."""
        return self._url

    @property
    def secrets(self) -> Sequence[str]:
        return self._secrets

    async def close(self) -> None:
        """Close the connections that belong to the running event loop."""
        await self._lanes.close()

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem]:
        """Deltas and calls, then exactly one Reply, with its connection already given back. Raises ProviderTrouble."""
        async with self._lanes.use(request.session) as lane:
            body = lane.encoder.body(request)
            patience, used = Patience(self._patience, self._rng), Usage()
            while True:
                hold = self._traffic.admit(self._clock(), len(body))
                if hold is not None and (notice := self._held(hold, patience, len(body))) is not None:
                    yield notice
                    await self._sleep(notice.delay)
                    continue
                answer, silence = Answer(self._fold(), self._largest // 4, self._largest), Silence()
                growth = Growth(answer, self._progress, self._grace)
                response: httpx.Response | None = None
                async with self._traffic.slot():
                    began = self._clock()
                    try:
                        response = await self._send(lane.client, body)
                        await refuse_errors(response, self._inactivity)
                        self._traffic.answered(self._clock(), response.headers)
                        async with aclosing(pieces_of(response)) as pieces:
                            while (piece := await self._next(pieces, answer, silence, growth)) is not None:
                                for delta in answer.feed(piece):
                                    yield delta
                                if answer.done:
                                    await _drain(pieces, silence)
                                    break
                        for delta in answer.rest():
                            yield delta
                        reply = answer.reply()
                        break
                    except httpx.RequestError as error:
                        if answer.whole:
                            reply = answer.reply()
                            break
                        fault = unreachable(error, self._connect)
                    except Fault as error:
                        fault = error
                    finally:
                        silence.close()
                        if request.told is not None and (counted := answer.usage).total:
                            used += counted
                            request.told(used, answer.model)
                        if response is not None:
                            await response.aclose()
                self._remember(fault, response)
                patience.spend(self._clock() - began)
                notice = self._again(fault, patience, seen=answer.seen)
                yield notice
                await self._sleep(notice.delay)
        yield reply

    async def _send(self, client: httpx.AsyncClient, body: bytes) -> httpx.Response:
        """The response, its headers read. Raises Fault, httpx.RequestError."""
        request = httpx.Request("POST", self._url, headers=self._headers, content=body, extensions=self._extensions)
        try:
            async with asyncio.timeout(self._connect + self._headers_within):
                return await client.send(request, stream=True, follow_redirects=False)
        except TimeoutError:
            raise Fault(None, f"no answer within {self._headers_within:g} s") from None

    async def _next(
        self, pieces: AsyncGenerator[bytes], answer: Answer, silence: Silence, growth: Growth
    ) -> bytes | None:
        """The next bytes of the body; None at its end, and when nothing that matters is still to come."""
        if not answer.whole and growth.stalled():
            raise Fault(None, f"nothing of an answer for {self._progress:g} s, though bytes kept coming")
        silent = self._inactivity if answer.seen else self._first_token
        limit = growth.grace_left() if answer.whole else silent
        try:
            with silence.within(limit):
                return await anext(pieces, None)
        except TimeoutError:
            if answer.whole:
                return None
            raise Fault(None, f"not a byte for {limit:g} s") from None

    def _remember(self, fault: Fault, response: httpx.Response | None) -> None:
        """Tell the other sessions what this attempt showed about the server."""
        now = self._clock()
        if response is not None and (fault.trouble is not None or fault.status == 429):
            self._traffic.answered(now, response.headers)
        elif fault.trouble is None:
            self._traffic.failed(now)
        if fault.after:
            self._traffic.asked_to_wait(now, fault.after)

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
            asked = fault.after is not None and fault.after > left > 0
            why = f"it asks to wait {fault.after:g} s, more than the {left:.3g} s left" if asked else "giving up"
            raise ProviderTrouble(Trouble.DOWN, f"{message} ({why}, after {attempts} attempts)", fault.status) from None
        return RetryNotice(patience.attempt, delay, message)

    def _held(self, hold: Hold, patience: Patience, size: int) -> RetryNotice | None:
        """The notice of a request that is held back; None lets it go all the same. Nothing was sent."""
        message = f"{self._url.host}: {hold.why}"
        delay = patience.hold(hold.seconds)
        if delay is not None:
            return RetryNotice(patience.attempt, delay, message)
        if hold.firm:
            raise ProviderTrouble(Trouble.DOWN, f"{message} (giving up; it may be asked again in {hold.seconds:.3g} s)")
        self._traffic.count(self._clock(), size)
        return None


async def _drain(pieces: AsyncGenerator[bytes], silence: Silence) -> None:
    """Read to the end of the body if it is near."""
    try:
        with silence.within(LAST_BYTES):
            async for _ in pieces:
                pass
    except (TimeoutError, httpx.RequestError):
        return
