"""Tries a provider out with one tiny conversation, and says what works and how to mend what does not."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from enum import StrEnum
from typing import Final

import attrs
import orjson

from states.messages import AssistantMessage, Call, Message, Reasoning, ToolMessage, UserMessage, calls_of, text_of
from states.ports import Provider, ProviderTrouble, Reply, Request, ToolSpec
from states.records import Trouble


class Endless(Exception):
    """An answer began and did not end in time; the message says after how long."""


ENDLESS: Final = (
    "the model goes on and on, or is slow: try another one, or set an output limit in the server; a run is kept within "
    "bounds by --budget-seconds"
)


class Outcome(StrEnum):
    """What a finding means."""

    WORKS = "works"
    ABSENT = "absent"
    """Not there, and nothing depends on it."""
    BROKEN = "broken"
    UNTRIED = "untried"
    """Something before it failed."""


@attrs.frozen
class Finding:
    """One thing that was tried. `note` says what was seen, `fix` how to mend it."""

    subject: str
    outcome: Outcome
    note: str
    fix: str = ""


SUBJECTS: Final = ("auth", "streaming", "tool calls", "parallel calls", "usage", "results", "reasoning echo")
TOOL: Final = ToolSpec(
    "lookup",
    "Look a key up in the index.",
    {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
)
QUESTION: Final = (
    "Look up the keys `a` and `b` with the lookup tool: two calls, both in this one answer. "
    "When you have both results, answer with the word done."
)


LONGEST: Final = 120.0
"""Seconds for one answer (our choice: a small model on two cores needs ten for these; some never come to an end)."""


class Patient:
    """The provider under examination, and how its responses were announced. `longest`: seconds for one answer."""

    def __init__(self, provider: Provider, content_types: Sequence[str], longest: float = LONGEST) -> None:
        self._provider = provider
        self._longest = longest
        self._content_types = content_types
        """Content types of the responses so far; it grows while the provider is asked."""

    async def examine(self) -> AsyncIterator[Finding]:
        """The findings, in the order of SUBJECTS, each as soon as it is known."""
        question = UserMessage(QUESTION)
        asked = Request("", [question], [TOOL], session="doctor")
        try:
            reply = await self._ask(asked)
        except Endless as endless:
            yield Finding("auth", Outcome.WORKS, f"{self._provider.model} answers")
            yield self._streaming()
            yield Finding("tool calls", Outcome.BROKEN, str(endless), ENDLESS)
            for subject in SUBJECTS[3:]:
                yield Finding(subject, Outcome.UNTRIED, "not tried")
            return
        except ProviderTrouble as trouble:
            yield _refused(trouble)
            for subject in SUBJECTS[1:]:
                yield Finding(subject, Outcome.UNTRIED, "not tried")
            return
        yield Finding("auth", Outcome.WORKS, f"{reply.model or self._provider.model} answers")
        yield self._streaming()
        called = [attrs.evolve(call, id=f"call_1_{place}") for place, call in enumerate(calls_of(reply.blocks))]
        yield _calls(called, reply)
        yield _parallel(called)
        yield _usage(reply)
        others = [block for block in reply.blocks if not isinstance(block, Call)]
        turn = AssistantMessage((*others, *called))
        follow_up: list[Message] = [ToolMessage(call.id, call.name, "found: 42") for call in called]
        follow_up = follow_up or [UserMessage("Answer with the word done.")]
        again = attrs.evolve(asked, messages=[question, turn, *follow_up])
        async for finding in self._second(again, reply, called=bool(called)):
            yield finding

    async def _second(self, request: Request, first: Reply, *, called: bool) -> AsyncIterator[Finding]:
        """Whether the conversation goes on with the results, and with the reasoning that came first."""
        thought = [block for block in first.blocks if isinstance(block, Reasoning)]
        try:
            await self._ask(request)
        except Endless as endless:
            yield Finding("results", Outcome.BROKEN, str(endless), ENDLESS)
            yield Finding("reasoning echo", Outcome.UNTRIED, "not tried")
            return
        except ProviderTrouble as trouble:
            fix = "set reasoning to require, allow or forbid for this server" if "reasoning" in trouble.message else ""
            yield Finding("results", Outcome.BROKEN, trouble.message, fix or "see the server's log")
            yield Finding("reasoning echo", Outcome.BROKEN if thought else Outcome.UNTRIED, "not accepted", fix)
            return
        yield (
            Finding("results", Outcome.WORKS, "the conversation goes on with the tools' results")
            if called
            else Finding("results", Outcome.UNTRIED, "there was no call to answer")
        )
        yield _echo(thought)

    async def _ask(self, request: Request) -> Reply:
        """The whole answer. Raises ProviderTrouble, and Endless for one that began and does not end."""
        answered = len(self._content_types)
        try:
            async with asyncio.timeout(self._longest), aclosing(self._provider.stream(request)) as items:
                async for item in items:
                    if isinstance(item, Reply):
                        return item
        except TimeoutError:
            if len(self._content_types) > answered:  # calls that go on and on are no items of the stream
                raise Endless(f"no end of the answer within {self._longest:g} s") from None
            raise ProviderTrouble(Trouble.DOWN, f"no answer within {self._longest:g} s") from None
        raise ProviderTrouble(Trouble.REFUSED, "no reply")

    def _streaming(self) -> Finding:
        kind = self._content_types[-1] if self._content_types else ""
        if "event-stream" in kind:
            return Finding("streaming", Outcome.WORKS, "answers come as an event stream")
        fix = "a proxy on the way may collect answers, or the server ignores `stream`; they are read all the same"
        return Finding("streaming", Outcome.BROKEN, f"the answer came as {kind or 'no content type'}", fix)


def _refused(trouble: ProviderTrouble) -> Finding:
    match trouble.status:
        case 401 | 403:
            fix = "check the key: it is read from the variable that --api-key-env names"
        case 404:
            fix = "check --model and --base-url: the server knows no such model or path"
        case 429:
            fix = "the key's limit or credit is used up: see the provider's console"
        case None if trouble.trouble is Trouble.DOWN:
            fix = "is the server running? check --base-url, and the proxy settings of the environment"
        case _:
            fix = "the message above is the server's own"
    return Finding("auth", Outcome.BROKEN, trouble.message, fix)


def _calls(called: Sequence[Call], reply: Reply) -> Finding:
    good = [call for call in called if call.name == TOOL.name and _key(call)]
    if good:
        return Finding("tool calls", Outcome.WORKS, f"{good[0].name} {good[0].arguments}")
    if called:
        said = f"{called[0].name} {called[0].arguments}"
        fix = "the model's calls cannot be used; try another model, or the server's parser for this one"
        return Finding("tool calls", Outcome.BROKEN, f"a call came that makes no sense: {said[:200]}", fix)
    text = text_of(reply.blocks).strip()
    if TOOL.name in text and "{" in text:
        fix = (
            "the call came as text: the server needs a parser for this model (vLLM: --enable-auto-tool-choice "
            "--tool-call-parser; llama.cpp: --jinja and a template with tools)"
        )
        return Finding("tool calls", Outcome.BROKEN, f"the model wrote {text[:100]!r}", fix)
    fix = "use a model that is trained to call tools, and a server whose template passes them on"
    return Finding("tool calls", Outcome.BROKEN, f"the model called nothing and said {text[:100]!r}", fix)


def _key(call: Call) -> bool:
    try:
        arguments = orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        return False
    return isinstance(arguments, dict) and isinstance(arguments.get("key"), str)


def _parallel(called: Sequence[Call]) -> Finding:
    if len(called) > 1:
        return Finding("parallel calls", Outcome.WORKS, f"{len(called)} calls in one answer")
    return Finding("parallel calls", Outcome.ABSENT, "one call at a time: slower, but nothing depends on it")


def _usage(reply: Reply) -> Finding:
    usage = reply.usage
    if usage.total:
        note = f"{usage.input} in ({usage.cached} cached), {usage.output} out ({usage.reasoning} reasoning)"
        return Finding("usage", Outcome.WORKS, note)
    fix = "the server reports none: a budget in tokens cannot be kept; use turns or seconds"
    return Finding("usage", Outcome.BROKEN, "no token counts", fix)


def _echo(thought: Sequence[Reasoning]) -> Finding:
    if not thought:
        return Finding("reasoning echo", Outcome.ABSENT, "the model showed no reasoning")
    kept = any(block.opaque for block in thought)
    note = "went back exactly as it came, and was accepted" if kept else "came as words, and the server takes it so"
    return Finding("reasoning echo", Outcome.WORKS, note)
