"""The whole adapter over real HTTP on loopback."""

import asyncio
import gc
import subprocess
import sys

import attrs
import httpx
import pytest
from support.chat_server import CUT, DONE, HANG, ChatServer, Response, calls_turn, chunk, error, text_turn

from fsm.providers import OpenAIChat
from states.errors import ConfigError
from states.messages import AssistantMessage, Call, Finish, ToolMessage, UserMessage, calls_of, text_of
from states.ports import ProviderTrouble, Reply, Request, RetryNotice, TextDelta, ToolSpec
from states.records import Trouble

HI = UserMessage("hi")
CALL = AssistantMessage((Call("call_1_0", "f", '{"x": 1}', "call_0"),))
ASK = Request("", [HI], session="s")


def script(*turns):
    """One turn per request, in order."""
    return lambda _, n: turns[n]


def test_deltas_then_one_reply(chat, ask):
    with ChatServer([text_turn("good morning")]) as server:
        *deltas, reply = ask(chat(server.url))
    assert deltas == [TextDelta("good mor"), TextDelta("ning")]
    assert (text_of(reply.blocks), reply.finish, reply.usage.total, reply.model) == (
        "good morning",
        Finish.STOP,
        15,
        "scripted",
    )


def test_a_dialogue_with_tools_goes_over_one_connection(chat, ask):
    with ChatServer([calls_turn([("f", {"x": 1})]), text_turn("done")]) as server:
        second = attrs.evolve(ASK, messages=[HI, CALL, ToolMessage("call_1_0", "f", "")])
        items = ask(chat(server.url), ASK, second)
        assert server.connections == 1
    first, last = (item for item in items if isinstance(item, Reply))
    assert [(call.id, call.name, call.arguments, call.provider_id) for call in calls_of(first.blocks)] == [
        ("", "f", '{"x": 1}', "call_0")
    ]
    assert text_of(last.blocks) == "done"


def test_the_request_is_what_the_protocol_wants(chat, ask):
    tool = ToolSpec("f", "Does f.", {"type": "object", "properties": {}})
    with ChatServer(script(text_turn("a"), text_turn("b"))) as server:
        provider = chat(server.url + "/", headers={"X-Team": "red"}, extra_body={"temperature": 0})
        ask(
            provider,
            Request("be brief", [HI], [tool], session="s"),
            Request("", [HI], [tool], require_tool="f", session="s"),
        )
        first, second = server.requests
        assert server.headers[0]["authorization"] == "Bearer sk-very-secret-key"
        assert server.headers[0]["x-team"] == "red"
    assert first == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "description": "Does f.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
        "tool_choice": "auto",
    }
    assert second["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert second["messages"] == [{"role": "user", "content": "hi"}]


# --- troubles ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "trouble_kind", "words"),
    [
        (error(400, "bad tool schema"), Trouble.REFUSED, "HTTP 400: bad tool schema"),
        (error(403, "not yours"), Trouble.REFUSED, "HTTP 403: not yours"),
        (error(404, "no such model"), Trouble.REFUSED, "HTTP 404: no such model"),
        (error(422, "odd"), Trouble.REFUSED, "HTTP 422: odd"),
        (error(400, "too long", "context_length_exceeded"), Trouble.OVERFLOW, "HTTP 400: too long"),
        (
            error(400, "This model's maximum context length is 8192 tokens."),
            Trouble.OVERFLOW,
            "maximum context length is 8192",
        ),
        (error(413, "Payload Too Large"), Trouble.OVERFLOW, "HTTP 413"),
        (error(429, "You exceeded your current quota", "insufficient_quota"), Trouble.REFUSED, "your current quota"),
        (Response([b'{"error":"model gone"}'], 404), Trouble.REFUSED, "HTTP 404: model gone"),
        (Response([b'{"code":400,"message":"hot","type":"Bad Request"}'], 400), Trouble.REFUSED, "HTTP 400: hot"),
        (Response([b'[{"error":{"code":400,"message":"listed"}}]'], 400), Trouble.REFUSED, "HTTP 400: listed"),
        (Response([b'{"detail":[{"msg":"missing"}]}'], 422), Trouble.REFUSED, '[{"msg":"missing"}]'),
        (Response([b"<h1>Not <b>here</b></h1>"], 404, {"content-type": "text/html"}), Trouble.REFUSED, "Not here"),
        (Response([], 404), Trouble.REFUSED, "HTTP 404: no further words"),
        (Response([], 302, {"location": "https://elsewhere/v1"}), Trouble.REFUSED, "set the base URL to https://else"),
        (Response([b"<p>Welcome</p>"], 200, {"content-type": "text/html"}), Trouble.REFUSED, "Welcome"),
    ],
)
def test_a_final_no_is_told_at_once_in_the_servers_words(request, response, trouble_kind, words):
    chat, trouble, naps = map(request.getfixturevalue, ("chat", "trouble", "naps"))
    with ChatServer(lambda *_: response) as server:
        caught = trouble(chat(server.url))
        assert len(server.requests) == 1
    assert caught.trouble is trouble_kind
    assert words in caught.message
    assert caught.message.startswith("127.0.0.1: ")
    assert caught.status == (None if response.status == 200 else response.status)
    assert naps == []


def test_a_key_that_the_server_echoes_is_masked(chat, trouble):
    with ChatServer(lambda *_: error(401, "Incorrect API key provided: sk-very-secret-key.")) as server:
        provider = chat(server.url, headers={"api-key": "another-secret", "x-note": "harmless"})
        caught = trouble(provider)
    assert caught.message == "127.0.0.1: HTTP 401: Incorrect API key provided: [redacted]."
    assert caught.status == 401
    assert caught.__cause__ is None
    assert provider.secrets == ("sk-very-secret-key", "another-secret")


@pytest.mark.parametrize(
    "broken",
    [
        [chunk({"content": "half"}), CUT],
        [chunk({"content": "half"})],
        [chunk({"content": "half"}), b'data: {"error":{"message":"overloaded","code":503}}\n\n', DONE],
        [chunk({"content": "half"}), b"data: {oops\n\n"],
        [chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]}), CUT],
        [chunk({"reasoning_content": "hm"}), CUT],
    ],
)
def test_an_answer_that_breaks_off_is_cut_and_never_asked_for_again(chat, trouble, naps, broken):
    with ChatServer(script(broken)) as server:
        caught = trouble(chat(server.url))
        assert len(server.requests) == 1
    assert caught.trouble is Trouble.CUT
    assert naps == []


def test_a_connection_that_breaks_after_the_finish_takes_nothing_away(chat, ask):
    with ChatServer(script([chunk({"content": "all"}), chunk({}, "stop"), CUT])) as server:
        assert text_of(ask(chat(server.url))[-1].blocks) == "all"


def test_silence_in_the_middle_of_an_answer_is_a_cut(chat, trouble):
    with ChatServer(script([chunk({"content": "half"}), HANG])) as server:
        caught = trouble(chat(server.url, inactivity=0.05))
        assert server.hung_up.wait(5)
    assert (caught.trouble, caught.message) == (Trouble.CUT, "127.0.0.1: not a byte for 0.05 s")


def test_comments_keep_a_slow_answer_alive(chat, ask):
    slow = [piece for _ in range(10) for piece in (0.05, b": ping\n\n")]
    with ChatServer(script([*slow, *text_turn("at last")])) as server:
        assert text_of(ask(chat(server.url, first_token=0.3))[-1].blocks) == "at last"


def test_a_body_that_does_not_end_after_done_delays_nobody(chat, ask):
    with ChatServer(script([*text_turn("hi"), HANG])) as server:
        assert text_of(ask(chat(server.url))[-1].blocks) == "hi"
        assert server.hung_up.wait(5)


# --- connections ------------------------------------------------------------------------------------------------


async def _until(condition):
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110  the condition is another thread's
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("way", ["cancel", "aclose", "drop"])
def test_leaving_in_the_middle_ends_the_connection(chat, way):
    async def leave(server):
        provider = chat(server.url)
        first = asyncio.Event()

        async def listen():
            async for _ in stream:
                first.set()

        stream = provider.stream(ASK)
        if way == "cancel":
            task = asyncio.create_task(listen())
            await first.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            await anext(stream)
            if way == "aclose":
                await stream.aclose()
            else:
                del stream
                gc.collect()
        await _until(server.hung_up.is_set)
        await _until(lambda: server.open == 0)
        assert text_of([item async for item in provider.stream(ASK)][-1].blocks) == "again"
        await provider.close()

    with ChatServer(script([chunk({"content": "half"}), HANG], text_turn("again"))) as server:
        asyncio.run(leave(server))
    gc.collect()


def test_cancelling_before_the_answer_ends_the_connection(chat):
    async def leave(server):
        provider = chat(server.url)
        task = asyncio.create_task(anext(provider.stream(ASK)))
        await _until(lambda: server.requests)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await _until(lambda: server.open == 0)
        await provider.close()

    with ChatServer(script([HANG])) as server:
        asyncio.run(leave(server))
    gc.collect()


def test_the_connection_is_given_back_before_the_reply_is_seen(chat):
    async def stop_at_the_reply(server):
        provider = chat(server.url)
        for _ in range(3):
            async for item in provider.stream(ASK):
                if isinstance(item, Reply):
                    break
        assert server.connections == 1
        await provider.close()

    with ChatServer(lambda *_: text_turn("hi")) as server:
        asyncio.run(stop_at_the_reply(server))


def test_many_sessions_at_once_keep_apart(chat):
    def answer(body, _):
        return [0.02, *text_turn(body["messages"][0]["content"])]

    async def all_at_once(server):
        provider = chat(server.url)

        async def one(name):
            request = Request("", [UserMessage(name)], session=name)
            return text_of([item async for item in provider.stream(request)][-1].blocks)

        names = [f"session {number}" for number in range(100)]
        assert await asyncio.gather(*map(one, names)) == names
        await one("one more")
        assert len(provider._lanes._loops[asyncio.get_running_loop()]) <= 64
        await provider.close()
        await _until(lambda: server.open == 0)

    with ChatServer(answer) as server:
        asyncio.run(all_at_once(server))


def test_one_provider_serves_one_event_loop_after_the_other(chat, ask):
    with ChatServer(lambda *_: text_turn("hi")) as server:
        provider = chat(server.url)
        for _ in range(2):
            assert text_of(ask(provider)[-1].blocks) == "hi"


def test_a_proxy_from_the_environment_is_not_asked_about_this_machine(chat, ask, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with ChatServer([text_turn("hi")]) as server:
        assert text_of(ask(chat(server.url))[-1].blocks) == "hi"


def test_a_client_of_ones_own_is_used(chat, ask):
    def answer(request):
        assert str(request.url) == "https://models.example/v1/chat/completions?api-version=2"
        return httpx.Response(200, content=b"".join(text_turn("hi")))

    def client():
        return httpx.AsyncClient(transport=httpx.MockTransport(answer))

    provider = chat("https://models.example/v1?api-version=2", client=client)
    assert text_of(ask(provider)[-1].blocks) == "hi"


def test_a_compressed_body_is_read_all_the_same(chat, ask):
    import gzip

    body = gzip.compress(b"".join(text_turn("hi")))
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    with ChatServer(script(Response([body[:20], body[20:]], 200, headers))) as server:
        assert text_of(ask(chat(server.url))[-1].blocks) == "hi"


# --- settings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base_url": "localhost:8000/v1"}, "needs http:// or https:// and a host"),
        ({"base_url": "https://"}, "needs http:// or https:// and a host"),
        ({"base_url": "http://[::1/v1"}, "is no URL"),
        ({"api_key": "sk-two\nlines"}, "the authorization header holds characters"),
        ({"headers": {"x-api-key": "schlüssel"}}, "the x-api-key header holds characters"),
        ({"extra_body": {"messages": []}}, "extra_body cannot set 'messages'"),
    ],
)
def test_a_setting_that_cannot_work_is_named(options, words):
    with pytest.raises(ConfigError, match="^.*" + words.replace("[", r"\[")) as caught:
        OpenAIChat("m", **options)
    assert "sk-two" not in str(caught.value)


def test_the_environment_gives_the_key_and_the_place(ask, monkeypatch):
    with ChatServer(lambda *_: text_turn("hi")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", " sk-from-the-environment\n")
        monkeypatch.setenv("MY_KEY", "sk-of-mine-alone")
        ask(OpenAIChat("m"))
        ask(OpenAIChat("m", api_key_env="MY_KEY"))
        monkeypatch.delenv("OPENAI_API_KEY")
        ask(OpenAIChat("m"))
        keys = [headers.get("authorization") for headers in server.headers]
    assert keys == ["Bearer sk-from-the-environment", "Bearer sk-of-mine-alone", None]


def test_a_none_in_extra_body_takes_a_member_out(chat, ask):
    with ChatServer([text_turn("hi")]) as server:
        ask(chat(server.url, extra_body={"stream_options": None}))
        assert "stream_options" not in server.requests[0]


def test_importing_the_package_does_not_import_the_client():
    code = "import sys, fsm.providers; assert 'httpx' not in sys.modules; fsm.providers.OpenAIChat('m'); print('ok')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("ok\n", "")


def test_an_unknown_name_is_an_attribute_error():
    import fsm.providers

    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = fsm.providers.Nothing


def test_a_server_that_is_not_there_is_down(chat, trouble, naps):
    with ChatServer([]) as server:
        url = server.url
    caught = trouble(chat(url, patience=2.0))
    assert caught.trouble is Trouble.DOWN
    assert "no connection" in caught.message
    assert sum(naps) == pytest.approx(2.0)


def test_a_retry_is_told_before_it_is_slept(chat):
    async def listen(server):
        provider = chat(server.url)
        stream = provider.stream(ASK)
        notice = await anext(stream)
        assert isinstance(notice, RetryNotice)
        assert "busy" in notice.message
        await stream.aclose()
        await provider.close()

    with ChatServer(lambda *_: error(503, "busy")) as server:
        asyncio.run(listen(server))
        assert len(server.requests) == 1


def test_trouble_is_the_only_thing_raised_for_the_far_sides_faults(chat, ask):
    for raw in (
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\ndata: {",
        b"HTTP/1.1 999 ?\r\n\r\n",
    ):
        with ChatServer(lambda *_, raw=raw: Response([raw], raw=True)) as server, pytest.raises(ProviderTrouble):
            ask(chat(server.url, patience=0.2))
