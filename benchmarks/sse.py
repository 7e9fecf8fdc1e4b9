"""CPU per chunk of reading a streamed answer: ours next to the official SDKs, the same bytes in the same run.

    python benchmarks/sse.py [--chunks N] [--rounds N]

needs `pip install openai anthropic` beside interlock, which itself does not. Each reader gets the body in the same
pieces through an in-process transport, so that neither sockets nor a server are measured, and folds it into the whole
answer. The least of the rounds counts.
"""

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

GOAL = 10.0
"""How many times cheaper ours should be."""
PIECE = 1460
"""Bytes of a piece: what one TCP segment carries on an ordinary network."""
WORDS = ("the ", "quick ", "brown ", "fox ", "jumps ", "over ", "a ", "lazy ", "dog. ", "é ")


def chat(chunks):
    """A chat completion of this many chunks, as OpenAI sends them."""
    for number in range(chunks):
        choice = {"index": 0, "delta": {"content": WORDS[number % 10]}, "logprobs": None, "finish_reason": None}
        yield _data(_chat(choices=[choice]))
    yield _data(_chat(choices=[{"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}]))
    yield _data(_chat(choices=[], usage={"prompt_tokens": 9, "completion_tokens": chunks, "total_tokens": 9 + chunks}))
    yield b"data: [DONE]\n\n"


def _chat(**more):
    return {
        "id": "chatcmpl-BxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "object": "chat.completion.chunk",
        "created": 1755000000,
        "model": "gpt-4.1-2025-04-14",
        "service_tier": "default",
        "system_fingerprint": "fp_51e1070cf2",
        "usage": None,
    } | more


def messages(chunks):
    """An answer in Anthropic's Messages of this many deltas."""
    usage = {"input_tokens": 9, "output_tokens": 1}
    message = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    yield _named("message_start", message=message | {"stop_reason": None, "stop_sequence": None, "usage": usage})
    yield _named("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for number in range(chunks):
        yield _named("content_block_delta", index=0, delta={"type": "text_delta", "text": WORDS[number % 10]})
    yield _named("content_block_stop", index=0)
    yield _named("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 9})
    yield _named("message_stop")


def responses(chunks):
    """An answer in OpenAI's Responses of this many deltas."""
    item = {"id": "msg_01", "type": "message", "role": "assistant", "status": "completed"}
    response = {"id": "resp_01", "object": "response", "created_at": 1755000000, "model": "gpt-4.1", "tools": []}
    response |= {"parallel_tool_calls": True, "tool_choice": "auto", "error": None, "incomplete_details": None}
    yield _named("response.created", sequence_number=0, response=response | {"status": "in_progress", "output": []})
    at = {"item_id": "msg_01", "output_index": 0}
    yield _named("response.output_item.added", sequence_number=1, output_index=0, item=item | {"content": []})
    part = {"type": "output_text", "text": "", "annotations": []}
    yield _named("response.content_part.added", sequence_number=2, content_index=0, part=part, **at)
    for number in range(chunks):
        delta = {"sequence_number": number + 3, "content_index": 0, "delta": WORDS[number % 10], "logprobs": []}
        yield _named("response.output_text.delta", **at, **delta)
    text = "".join(WORDS[number % 10] for number in range(chunks))
    whole = item | {"content": [part | {"text": text}]}
    last = {"sequence_number": chunks + 3, "output_index": 0}
    yield _named("response.output_text.done", **at, content_index=0, text=text, logprobs=[], sequence_number=chunks + 2)
    yield _named("response.output_item.done", item=whole, **last)
    usage = {"input_tokens": 9, "output_tokens": chunks, "total_tokens": 9 + chunks}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    ended = response | {"status": "completed", "output": [whole], "usage": usage}
    yield _named("response.completed", sequence_number=chunks + 4, response=ended)


def _data(payload):
    return b"data: " + json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"


def _named(kind, **more):
    return b"event: " + kind.encode() + b"\n" + _data({"type": kind} | more)


def transport(httpx, pieces, *, asynchronous):
    """A transport that answers with these pieces."""
    kind = httpx.AsyncByteStream if asynchronous else httpx.SyncByteStream

    class Body(kind):
        def __iter__(self):
            yield from pieces

        async def __aiter__(self):
            for piece in pieces:
                yield piece

    return httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Body())
    )


# --- the readers: each gives the text that it read ----------------------------------------------------------------


def ours(provider_class, pieces):
    import httpx

    from states.messages import UserMessage, text_of
    from states.ports import Reply, Request

    async def read():
        def client():
            return httpx.AsyncClient(transport=transport(httpx, pieces, asynchronous=True))

        provider = provider_class("m", "http://127.0.0.1:9", "k", client=client)
        async for item in provider.stream(Request("", [UserMessage("hi")])):
            if isinstance(item, Reply):
                text = text_of(item.blocks)
        await provider.close()
        return text

    return asyncio.run(read())


def our_chat(pieces):
    from fsm.providers import OpenAIChat

    return ours(OpenAIChat, pieces)


def our_messages(pieces):
    from fsm.providers import Anthropic

    return ours(Anthropic, pieces)


def our_responses(pieces):
    from fsm.providers import OpenAIResponses

    return ours(OpenAIResponses, pieces)


def _http_of(sdk):
    """The HTTP library that an SDK is built on (the newer ones: httpx2)."""
    import importlib

    return importlib.import_module(sdk.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])


def openai_sdk(pieces):
    import openai

    httpx = _http_of(openai)

    async def read():
        http = httpx.AsyncClient(transport=transport(httpx, pieces, asynchronous=True))
        client = openai.AsyncOpenAI(base_url="http://127.0.0.1:9", api_key="k", http_client=http)
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        text = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
        await client.close()
        return "".join(text)

    return asyncio.run(read())


def responses_sdk(pieces, *, whole=False):
    """Its bare events, joined by hand; or with its accumulator."""
    import openai

    httpx = _http_of(openai)

    async def read():
        http = httpx.AsyncClient(transport=transport(httpx, pieces, asynchronous=True))
        client = openai.AsyncOpenAI(base_url="http://127.0.0.1:9", api_key="k", http_client=http)
        if whole:
            async with client.responses.stream(model="m", input="hi") as stream:
                text = [(await stream.get_final_response()).output_text]
        else:
            stream = await client.responses.create(model="m", input="hi", stream=True)
            text = [event.delta async for event in stream if event.type == "response.output_text.delta"]
        await client.close()
        return "".join(text)

    return asyncio.run(read())


def responses_sdk_whole(pieces):
    return responses_sdk(pieces, whole=True)


def anthropic_sdk(pieces, *, whole=False):
    """Its bare events, joined by hand; nothing is accumulated."""
    import anthropic

    httpx = _http_of(anthropic)

    async def read():
        http = httpx.AsyncClient(transport=transport(httpx, pieces, asynchronous=True))
        client = anthropic.AsyncAnthropic(base_url="http://127.0.0.1:9", api_key="k", http_client=http)
        asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
        if whole:
            async with client.messages.stream(**asked) as stream:
                text = [block.text for block in (await stream.get_final_message()).content]
        else:
            stream = await client.messages.create(**asked, stream=True)
            text = [event.delta.text async for event in stream if event.type == "content_block_delta"]
        await client.close()
        return "".join(text)

    return asyncio.run(read())


def anthropic_sdk_whole(pieces):
    """With the accumulator that gives what ours gives: the finished message."""
    return anthropic_sdk(pieces, whole=True)


RACES = [
    ("chat completions, events", chat, our_chat, openai_sdk),
    ("Messages, whole answer", messages, our_messages, anthropic_sdk_whole),
    ("Messages, bare events", messages, our_messages, anthropic_sdk),
    ("Responses, whole answer", responses, our_responses, responses_sdk_whole),
    ("Responses, bare events", responses, our_responses, responses_sdk),
]
"""Ours always folds the whole answer."""


def floor(pieces):
    """CPU µs of an event if it is split off and parsed, and nothing is made of it."""
    import orjson

    lines = [line[6:] for line in b"".join(pieces).split(b"\n") if line.startswith(b"data: {")]
    began = time.process_time()
    for line in lines:
        orjson.loads(line)
    b"".join(pieces).split(b"\n\n")
    return (time.process_time() - began) / len(lines) * 1e6


def least(read, pieces, text, rounds):
    """CPU seconds of the process, the least of the rounds; the first reading only warms up."""
    found = []
    for _ in range(rounds + 1):
        began = time.process_time()
        assert read(pieces) == text
        found.append(time.process_time() - began)
    return min(found[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    text = "".join(WORDS[number % 10] for number in range(given.chunks))
    for name, make, read_ours, read_theirs in RACES:
        body = b"".join(make(given.chunks))
        pieces = [body[at : at + PIECE] for at in range(0, len(body), PIECE)]
        bare = min(floor(pieces) for _ in range(given.rounds))
        mine = least(read_ours, pieces, text, given.rounds) / given.chunks * 1e6
        try:
            theirs = least(read_theirs, pieces, text, given.rounds) / given.chunks * 1e6
        except ModuleNotFoundError as error:
            print(f"{name}: ours {mine:.1f} µs a chunk; {error.name} is not installed")
            continue
        times = theirs / mine
        print(
            f"{name}: ours {mine:.1f} µs a chunk, the official SDK {theirs:.1f} µs: {times:.1f} times cheaper "
            f"(splitting and parsing alone {bare:.1f} µs; goal {GOAL:g}: {'reached' if times >= GOAL else 'missed'})"
        )


if __name__ == "__main__":
    main()
