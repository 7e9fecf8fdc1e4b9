"""The HTTP client of one session."""

import ssl
from functools import cache
from typing import Final

import httpx

from .settings import is_loopback

KEEP_ALIVE: Final = 60.0
"""Seconds that an idle connection is kept, so that the turn after a slow tool reuses it (our choice)."""


class _NoCookies(httpx.Cookies):
    """Takes none: our requests never carry any, and reading a response for them costs as much as building a request."""

    def extract_cookies(self, response: httpx.Response) -> None:
        pass


class _Client(httpx.AsyncClient):
    @property
    def cookies(self) -> httpx.Cookies:
        return _NO_COOKIES

    @cookies.setter
    def cookies(self, cookies: object) -> None:
        raise TypeError("this client keeps no cookies")


_NO_COOKIES: Final = _NoCookies()


def new_client(url: httpx.URL, timeout: httpx.Timeout) -> httpx.AsyncClient:
    return _Client(
        verify=_tls(verify=url.scheme == "https"),
        trust_env=not is_loopback(url.host),
        limits=httpx.Limits(max_connections=None, keepalive_expiry=KEEP_ALIVE),
        timeout=timeout,
    )


@cache
def _tls(*, verify: bool) -> ssl.SSLContext:
    """One context for all clients: making one with certificates costs tens of milliseconds; plain HTTP needs none."""
    return httpx.create_ssl_context() if verify else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
