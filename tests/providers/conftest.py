import asyncio
import random
from pathlib import Path

import pytest

from fsm.providers import OpenAIChat
from states.messages import UserMessage
from states.ports import CallReady, ProviderTrouble, Request

STREAMS = Path(__file__).parent / "streams"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def ask():
    """Ask a provider once (or several times in one event loop), close it, and give back every item.

    Without calls that are complete early: which are, depends on how the bytes arrive.
    """

    def run(provider, *requests):
        async def every():
            try:
                return [
                    item
                    for request in requests or (Request("", [UserMessage("hi")], session="s"),)
                    async for item in provider.stream(request)
                    if not isinstance(item, CallReady)
                ]
            finally:
                await provider.close()

        return asyncio.run(every())

    return run


@pytest.fixture
def trouble(ask):
    """The ProviderTrouble that asking ends in."""

    def run(provider, *requests):
        with pytest.raises(ProviderTrouble) as caught:
            ask(provider, *requests)
        return caught.value

    return run


@pytest.fixture
def naps():
    """Seconds that the provider of `chat` wanted to sleep."""
    return []


@pytest.fixture
def chat(naps):
    """An OpenAIChat that notes its sleeps instead of taking them."""

    async def sleep(seconds):
        naps.append(seconds)

    def make(url, **options):
        defaults = {
            "api_key": "sk-very-secret-key",
            "rng": random.Random(1),
            "sleep": sleep,
            "clock": lambda: sum(naps),
        }
        return OpenAIChat("m", url, **(defaults | options))

    return make


@pytest.fixture(scope="session")
def recorded():
    """The bodies of recorded streams by name."""
    return {
        path.parent.name if path.name == "stream.sse" else path.stem: path.read_bytes()
        for path in STREAMS.rglob("*.sse")
    }
