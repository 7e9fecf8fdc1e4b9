"""HTTP responses as this package sees them: a body in pieces, or the Fault that they stand for."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, cast

import httpx

from states.records import Trouble

from .backoff import retry_after, should_retry
from .faults import PAGE, Fault, of_response
from .unpack import unpacked

ERROR_BODY: Final = 64 * 1024
"""Bytes of an error's body that are read (our choice)."""


async def refuse_errors(response: httpx.Response, within: float) -> None:
    """Raise the Fault of a response that is no 2xx; its body is waited for at most `within` seconds."""
    status = response.status_code
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        target = response.headers.get("location", "nowhere")[:PAGE]
        raise Fault(Trouble.REFUSED, f"HTTP {status}: redirects are not followed; set the base URL to {target}", status)
    body = bytearray()
    try:
        async with asyncio.timeout(within), aclosing(pieces_of(response)) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) > ERROR_BODY:
                    break
    except (TimeoutError, httpx.RequestError, Fault):
        pass  # the status alone says enough
    headers = response.headers
    raise of_response(status, bytes(body), retry_after(headers), again=should_retry(headers))


def pieces_of(response: httpx.Response) -> AsyncGenerator[bytes]:
    """The body as it comes from the network, unpacked if a proxy packed it against our word."""
    if response.is_stream_consumed:  # a client of the caller's own has read it
        return cast("AsyncGenerator[bytes]", response.aiter_bytes())  # httpx declares less than it gives
    pieces = cast("httpx.AsyncByteStream", response.stream)
    encoding = response.headers.get("content-encoding", "")
    return unpacked(pieces, encoding) if encoding else cast("AsyncGenerator[bytes]", aiter(pieces))


def unreachable(error: httpx.RequestError, connect: float) -> Fault:
    """A transport's failure, in words. A certificate that does not verify will not get better by waiting."""
    match error:
        case httpx.ConnectTimeout():
            return Fault(None, f"no connection{_to_port(error)} within {connect:g} s")
        case httpx.ConnectError() if isinstance(_root(error), ssl.SSLCertVerificationError):
            return Fault(Trouble.REFUSED, f"the server's certificate is not trusted: {_root(error)}")
        case httpx.ConnectError():
            return Fault(None, f"no connection{_to_port(error)}: {error}")
        case httpx.LocalProtocolError():
            return Fault(Trouble.REFUSED, f"the request cannot be sent: {error}")
        case _:
            return Fault(None, f"the connection broke: {str(error) or type(error).__name__}")


def _to_port(error: httpx.RequestError) -> str:
    """Which port was tried, where the error knows: with a local server that is what is mistaken most often."""
    try:
        url = error.request.url
    except RuntimeError:  # nobody said which request it was
        return ""
    return f" to port {url.port or (443 if url.scheme == 'https' else 80)}"


def _root(error: BaseException) -> BaseException:
    """The first cause in a chain of exceptions."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error
