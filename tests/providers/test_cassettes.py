"""Turns are written down and played again."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import blocks, text

from fsm.providers import Recorder, Replay, Scripted
from fsm.providers.cassette import BadCassette, Turn, line, read
from fsm.providers.scripted import asks_for, says
from states.messages import AssistantMessage, Call, Finish, Reasoning, Text, ToolMessage, Usage, UserMessage
from states.ports import ProviderTrouble, ReasoningDelta, Reply, Request, TextDelta
from states.records import Trouble

HI = UserMessage("hi")
CALL = AssistantMessage((Call("call_1_0", "f", "{}"),))
RESULT = ToolMessage("call_1_0", "f", "out")
FIRST = Request("", [HI])
SECOND = Request("", [HI, CALL, RESULT])
THIRD = Request("", [HI, CALL, RESULT, AssistantMessage((Text("done"),)), HI])


@pytest.fixture
def cassette(tmp_path, ask):
    """Two turns, recorded."""
    path = tmp_path / "run.cassette"
    ask(Recorder(Scripted([asks_for(("f", {}), text="on it"), says("done")], "gpt"), path), FIRST, SECOND)
    return path


def test_a_recorder_changes_nothing_that_passes_through(tmp_path, ask):
    turns = [asks_for(("f", {}), text="on it"), says("done")]
    recorder = Recorder(Scripted(turns), tmp_path / "c")
    assert ask(recorder, FIRST, SECOND) == ask(Scripted(turns), FIRST, SECOND)
    assert recorder.model == "scripted"


def test_a_replay_gives_what_was_recorded(cassette, ask):
    assert ask(Replay(cassette), FIRST, SECOND) == [
        TextDelta("on it"),
        asks_for(("f", {}), text="on it"),
        TextDelta("done"),
        says("done"),
    ]
    assert Replay(cassette).model == "gpt"


def test_a_resumed_run_gets_the_turn_where_it_stands(cassette, ask):
    assert ask(Replay(cassette), SECOND)[-1] == says("done")


def test_a_cassette_is_continued(cassette, ask):
    ask(Recorder(Scripted([says("bye")]), cassette), THIRD)
    assert ask(Replay(cassette), THIRD)[-1] == says("bye")
    assert ask(Replay(cassette), FIRST)[-1].finish is Finish.CALLS


def test_among_recordings_of_one_turn_the_one_for_these_words_is_played(tmp_path, ask):
    other = Request("", [UserMessage("bye")])
    ask(Recorder(Scripted([says("hello"), says("farewell")]), tmp_path / "c"), FIRST, other)
    replay = Replay(tmp_path / "c")
    assert ask(replay, FIRST)[-1] == says("hello")
    assert ask(replay, other)[-1] == says("farewell")
    assert ask(replay, Request("", [UserMessage("?")]))[-1] == says("farewell")


def test_a_cassette_without_the_turn_says_so(cassette, trouble):
    caught = trouble(Replay(cassette), THIRD)
    assert caught.trouble is Trouble.REFUSED
    assert caught.message == f"the cassette {cassette} has no turn 3 (it holds 2); record it with --record"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot read the cassette"),
        (b"", "line 1, is not of a cassette"),
        (b"junk\n", "line 1, is not of a cassette"),
        (b"[]\n", "line 1, is not of a cassette"),
        (b'{"format":"interlock-cassette","version":2,"model":"m"}\n', "version 2; this program reads"),
        (b'{"format":"other","version":1,"model":"m"}\n', "has format 'other'"),
        (b'{"format":"interlock-cassette","version":1,"model":"m"}\n{"turn":0}\n', "line 2, is not of a cassette"),
        (b'{"format":"interlock-cassette","version":1,"model":"m"}\n{"turn":0,"re', "line 2, is not of a cassette"),
    ],
)
def test_a_bad_file_is_refused_by_line(tmp_path, trouble, content, words):
    path = tmp_path / "c"
    if content is not None:
        path.write_bytes(content)
    caught = trouble(Replay(path))
    assert caught.trouble is Trouble.REFUSED
    assert words in caught.message
    assert Replay(path).model in ("replay", "m")
    if content:
        with pytest.raises(BadCassette, match="cassette"):
            Recorder(Scripted([]), path)
        assert path.read_bytes() == content


def test_secrets_are_masked_even_across_deltas(tmp_path, ask):
    class Leaky(Scripted):
        secrets = ("sk-very-secret",)

        async def stream(self, request):
            for piece in ("the key is sk-ve", "ry-sec", "ret, keep it"):
                yield TextDelta(piece)
            yield says("the key is sk-very-secret, keep it")

    ask(Recorder(Leaky([]), tmp_path / "c"))
    assert b"secret" not in (tmp_path / "c").read_bytes()
    *deltas, reply = ask(Replay(tmp_path / "c"))
    assert "".join(delta.text for delta in deltas) == "the key is [redacted], keep it"
    assert reply == says("the key is [redacted], keep it")


def test_a_turn_that_ends_in_trouble_is_not_recorded(tmp_path, ask, trouble):
    cut = ProviderTrouble(Trouble.CUT, "gone")
    provider = Recorder(Scripted([cut, says("hello")]), tmp_path / "c")
    assert trouble(provider).message == "gone"
    ask(provider)
    assert ask(Replay(tmp_path / "c"))[-1] == says("hello")


def test_leaving_a_recorder_leaves_the_provider(tmp_path):
    left = []

    class Watched(Scripted):
        async def stream(self, request):
            try:
                yield TextDelta("a")
                yield says("a")
            finally:
                left.append("closed")

    async def leave():
        stream = Recorder(Watched([]), tmp_path / "c").stream(FIRST)
        await anext(stream)
        await stream.aclose()
        assert left == ["closed"]

    asyncio.run(leave())
    assert len((tmp_path / "c").read_bytes().splitlines()) == 1, "only the header: the turn was not whole"


def test_pacing_waits_before_each_delta(cassette, ask):
    naps = []

    async def sleep(seconds):
        naps.append(seconds)

    ask(Replay(cassette, pacing=0.25, sleep=sleep), SECOND)
    assert naps == [0.25]


usages = st.builds(Usage, *[st.integers(0, 2**53)] * 4)
replies = st.builds(Reply, st.lists(blocks, max_size=4).map(tuple), st.sampled_from(Finish), usages, text, text)
deltas = st.lists(st.builds(TextDelta, text) | st.builds(ReasoningDelta, text)).map(tuple)


@given(st.integers(0, 2**53), deltas, replies)
def test_any_turn_survives_the_file(tmp_path_factory, number, shown, reply):
    path = tmp_path_factory.mktemp("c") / "c"
    turn = Turn(number, "digest", shown, reply)
    path.write_bytes(b'{"format":"interlock-cassette","version":1,"model":"m"}\n' + line(turn))
    assert read(path)[1] == [turn]


def test_the_file_is_json_lines_with_a_versioned_header(cassette):
    header, first, _ = map(json.loads, cassette.read_text().splitlines())
    assert header == {"format": "interlock-cassette", "version": 1, "model": "gpt"}
    assert (first["turn"], len(first["request"])) == (0, 64)
    assert first["reply"]["finish"] == "calls"


# --- scripted ---------------------------------------------------------------------------------------------------


def test_a_script_gives_its_turns_in_order_and_keeps_the_requests(ask, trouble):
    thinking = Reply((Reasoning("hm", "x"), Text("yes")), Finish.STOP)
    provider = Scripted([says("a"), lambda request: says(request.system), thinking])
    items = ask(provider, FIRST, Request("be brief", []), FIRST)
    assert items == [
        TextDelta("a"),
        says("a"),
        TextDelta("be brief"),
        says("be brief"),
        ReasoningDelta("hm"),
        TextDelta("yes"),
        thinking,
    ]
    assert [(request.system, list(request.messages)) for request in provider.requests] == [
        ("", [HI]),
        ("be brief", []),
        ("", [HI]),
    ]
    assert trouble(provider).message == "the script has only 3 turns"


def test_a_script_can_hold_trouble(trouble):
    down = ProviderTrouble(Trouble.DOWN, "busy", 503)
    assert trouble(Scripted([down])) is down
    assert trouble(Scripted([lambda _: down])) is down
