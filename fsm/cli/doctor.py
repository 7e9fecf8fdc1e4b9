"""interlock doctor: tries a provider out, and says what works and how to mend what does not."""

from typing import TYPE_CHECKING, Final

import click

from fsm.config import DIALECTS

if TYPE_CHECKING:
    from fsm.providers.checkup import Finding
    from fsm.providers.http_provider import HttpProvider

MARKS: Final = {"works": "✓", "absent": "–", "broken": "✗", "untried": "·"}
NEEDED: Final = ("auth", "tool calls", "results")
"""Without these no run can succeed: exit status 1."""
PATIENCE: Final = 5.0
"""Seconds for a server that is down: a person waits."""


@click.command()
@click.option(
    "--provider", type=click.Choice(sorted(DIALECTS)), default="openai", show_default=True, help="The protocol."
)
@click.option("--model", required=True, metavar="NAME", help="The model's name, as its server knows it.")
@click.option("--base-url", metavar="URL", help="The server; OPENAI_BASE_URL and ANTHROPIC_BASE_URL are honoured.")
@click.option("--api-key-env", metavar="NAME", help="The variable with the key.")
def doctor(provider: str, model: str, base_url: str | None, api_key_env: str | None) -> int:
    """Try a provider out with one tiny conversation of two calls and one tool.

    Exit status 1 if a run with it could not succeed.
    """
    import asyncio

    found = asyncio.run(_examine(provider, model, base_url, api_key_env or DIALECTS[provider].key))
    broken = [finding for finding in found if finding.subject in NEEDED and finding.outcome == "broken"]
    return 1 if broken else 0


async def _examine(name: str, model: str, base_url: str | None, key: str) -> "list[Finding]":
    from fsm.providers.checkup import Patient

    seen: list[str] = []
    provider = _provider(name, model, base_url, key, seen)
    found = []
    try:
        async for finding in Patient(provider, seen).examine():
            _show(finding)
            found.append(finding)
    finally:
        await provider.close()
    return found


def _show(finding: "Finding") -> None:
    from .terminal import out, visible

    out(f"{MARKS[finding.outcome]} {finding.subject:<15} {visible(finding.note)}")
    if finding.fix and finding.outcome != "works":
        out(f"  {'':<15} → {visible(finding.fix)}")


def _provider(name: str, model: str, base_url: str | None, key: str, seen: list[str]) -> "HttpProvider":
    """The provider, with a client that notes how each response is announced. Raises ConfigError."""
    import os

    import httpx

    import fsm.providers
    from fsm.providers.client import new_client

    from .provider import no_key

    async def note(response: httpx.Response) -> None:
        seen.append(response.headers.get("content-type", ""))

    def client() -> httpx.AsyncClient:
        made = new_client(provider.url, httpx.Timeout(None, connect=10.0))
        made.event_hooks = {"response": [note]}
        return made

    make = getattr(fsm.providers, DIALECTS[name].maker)
    provider: HttpProvider = make(model, base_url, None, key, patience=PATIENCE, client=client)
    if provider.url.host == httpx.URL(DIALECTS[name].default).host and not os.environ.get(key, "").strip():
        raise no_key(key, provider.url.host)
    return provider
