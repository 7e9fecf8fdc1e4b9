"""Who can read an opaque part again: a dialect, and the host that speaks it."""

from typing import Final

import httpx

SHARED: Final = {"anthropic": (".anthropic.com", ".googleapis.com", ".amazonaws.com")}
"""Hosts that read each other's opaque parts (Anthropic documents that signatures hold on its platforms)."""


def origin_of(dialect: str, url: httpx.URL) -> str:
    """`dialect@host`; hosts that share their opaque parts are one. A port says nothing: local servers change it."""
    if url.host.endswith(SHARED.get(dialect, ())):
        return dialect
    return f"{dialect}@{url.host}"
