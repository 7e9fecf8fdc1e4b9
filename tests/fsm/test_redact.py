"""Secrets are replaced wherever they stand, also when they come in pieces."""

import asyncio

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.bench import Bench, story

from fsm import ToolContext, tool
from fsm import events as ev
from fsm.providers.scripted import Scripted, asks_for, says
from fsm.redact import MASK, Redactor
from states.codec import decode, encode
from states.messages import UserMessage
from states.records import Status, ToolResult, UserInput

SECRET = "sk-abcabcabd"


class Keyed(Scripted):
    """A provider that has a secret."""

    def __init__(self, secret, *turns):
        super().__init__(turns)
        self._secret = secret

    @property
    def secrets(self):
        return (self._secret,)


def told(bench):
    """Everything that is stored or shown, as one text."""

    async def tale():
        await bench.run()
        return await bench.journal.read("s"), bench.journal._notes, bench.events

    return repr(story(tale()))


@given(st.text("sk-abcd x", max_size=30), st.text("sk-abcd x", max_size=30), st.data())
def test_no_way_of_cutting_a_stream_lets_a_secret_through(before, after, data):
    whole = before + SECRET + after
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=6)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    stream = Redactor([SECRET]).stream()

    shown = "".join([stream.feed(piece) for piece in pieces] + [stream.rest()])

    assert SECRET not in shown
    assert shown == whole.replace(SECRET, MASK)


def test_text_without_a_secret_is_shown_at_once():
    assert Redactor([SECRET]).stream().feed("hello") == "hello"


def test_a_secret_is_found_in_an_encoded_record():
    redactor = Redactor(['sk-with"quote\\and'])

    assert redactor.body(b'{"text":"sk-with\\"quote\\\\and!"}') == b'{"text":"[redacted]!"}'


def test_a_string_too_short_to_be_a_secret_is_left_alone():
    assert Redactor(["a", "test"]).text("a test") == "a test"


@pytest.mark.parametrize("name", ["metadata", "duration"])
def test_a_secret_that_is_also_the_name_of_a_field_leaves_the_record_readable(name):
    record = ToolResult("c", Status.OK, f"{name}!", {"said": name}, 1.5)

    assert decode(Redactor([name]).body(encode(record))) == ToolResult("c", Status.OK, f"{MASK}!", {"said": MASK}, 1.5)


def test_a_secret_as_a_name_within_metadata_is_replaced():
    record = ToolResult("c", Status.OK, "", {"env": {SECRET: [SECRET, 1, None]}})

    assert decode(Redactor([SECRET]).body(encode(record))).metadata == {"env": {MASK: [MASK, 1, None]}}


def test_a_secret_beyond_ascii_is_replaced_in_a_record():
    secret = "пароль-секрет"

    assert decode(Redactor([secret]).body(encode(UserInput(f"it is {secret}.")))) == UserInput(f"it is {MASK}.")


def test_a_secret_with_its_slashes_escaped_is_replaced():
    secret = "sk-ab/cd/ef0123456789"
    escaped = secret.replace("/", "\\/")

    assert Redactor([secret]).text(f'{{"key":"{escaped}"}}') == f'{{"key":"{MASK}"}}'


def test_a_record_without_a_secret_keeps_its_very_bytes():
    body = b'{"kind":"user_input",  "text":"\\u0061bc"}'

    assert Redactor([SECRET]).body(body) is body


def test_a_replaced_record_is_still_json():
    body = encode(UserInput('quote " and \\ before ' + SECRET))

    assert orjson.loads(Redactor([SECRET]).body(body))["text"] == f'quote " and \\ before {MASK}'


@pytest.mark.parametrize(
    ("secret", "sent"),
    [
        ("пароль-секрет", '{"key":"пароль-секрет"}'),
        ("sk-ab/cd/ef0123456789", '{"key":"sk-ab\\/cd\\/ef0123456789"}'),
    ],
    ids=["beyond ascii", "escaped slashes"],
)
def test_a_secret_in_the_arguments_of_a_call_is_stored_and_shown_nowhere(secret, sent):
    everything = told(Bench(provider=Keyed(secret, asks_for(("look", sent), text=secret), says("ok"))))

    assert secret not in everything
    assert secret.replace("/", "\\\\/") not in everything
    assert "seen [redacted]" in everything


def test_a_run_goes_on_though_a_secret_is_the_name_of_a_field():
    bench = Bench(provider=Keyed("arguments", asks_for(("look", {"key": "arguments"})), says("ok")))

    assert story(bench.run()).text == "ok"
    assert bench.answers()[0].text == f"seen {MASK}"


def test_a_secret_in_words_that_steer_is_not_even_posted():
    def answer(request):
        asyncio.get_running_loop().create_task(bench.loop.steer("s", f"the key is {SECRET}"))
        return says("one")

    bench = Bench(provider=Keyed(SECRET, answer, says("two")))
    everything = told(bench)
    assert SECRET not in everything
    assert bench.asked()[-1] == UserMessage(f"the key is {MASK}")


def test_a_secret_in_two_lines_of_progress_is_not_shown():
    @tool
    async def leak(context: ToolContext) -> str:
        """Leak."""
        context.progress(SECRET[:6])
        context.progress(SECRET[6:])
        return ""

    bench = Bench(provider=Keyed(SECRET, asks_for(("leak", {})), says("ok")), tools=[leak])
    story(bench.run())

    assert SECRET not in "".join(event.text for event in bench.seen(ev.ToolProgress))


@pytest.mark.parametrize("word", ["tool_result", "run_started", "provider_turn", "user_input"])
def test_a_secret_that_is_spelled_like_a_tag_leaves_the_record_readable(word):
    bench = Bench(provider=Keyed(word, asks_for(("look", {"key": word})), says("ok")))

    assert story(bench.run()).text == "ok"
