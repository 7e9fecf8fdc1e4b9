"""The mistakes that newcomers make: each message names the input and the way out, and shows no traceback."""

import pytest
from support.chat_server import ChatServer, error

from fsm import Loop
from fsm.cli import call
from fsm.providers import Scripted
from fsm.providers.scripted import says
from states.errors import ConfigError

NOBODY = "http://127.0.0.1:9/v1"
RUN = ("run", "hi", "--model", "m", "--base-url", NOBODY)

MINE = """
import json
from fsm import Loop
PI = 3
class Answer: ...
def one_argument(x): return x
def raises_nothing_but_makes_none(**parts): return None
"""


@pytest.fixture
def mistaken(tmp_path, monkeypatch, capsys):
    """Runs a command in this process and returns its exit status and standard error."""
    (tmp_path / "newcomers_module.py").write_text(MINE)
    (tmp_path / "bad.json").write_text("{bad")
    (tmp_path / "number.json").write_text('{"type": 12}')
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "newcomers_module", raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(*words):
        status = call(words)
        return status, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("words", "said", "way_out"),
    [
        (("doctor", "--model", "m"), "OPENAI_API_KEY is not set", "--api-key-env"),
        (("doctor", "--model", "m", "--api-key-env", "NOPE"), "NOPE is not set", "--base-url"),
        (("run", "hi", "--model", "m", "--provider", "anthropic"), "ANTHROPIC_API_KEY is not set", "--api-key-env"),
        (("run", "hi", "--base-url", NOBODY), "--model is missing", "set model in interlock.toml"),
        (("run", "hi", "--model", "m", "--base-url", "foo"), "base_url 'foo'", "http:// or https://"),
        ((*RUN, "--workspace", "nowhere"), "'nowhere'", "--workspace"),
        ((*RUN, "--schema", "bad.json"), "'bad.json'", "line 1 column 2"),
        ((*RUN, "--schema", "number.json"), "'number.json'", "at type"),
        ((*RUN, "--tools", "read_fil"), "'read_fil'", "there are: read_file"),
        ((*RUN, "--tolls", "x"), "--tolls", "Did you mean"),
        ((*RUN, "--allow", "bsh(git*)"), "'bsh(git*)'", "there are: read_file"),
        ((*RUN, "--allow", "bash(git"), "'bash(git'", "write a tool such as"),
        ((*RUN, "--require", "tests"), "'tests'", "known: test"),
        ((*RUN, "--permission", "ful"), "'ful'", "known: full"),
        ((*RUN, "--provider", "opanai"), "'opanai'", "known: openai"),
        ((*RUN, "--limit", "bash"), "--limit bash", "NAME=N"),
        ((*RUN, "--fallback", "foo"), "--fallback foo", "PROVIDER:MODEL"),
        (("rum", "hi"), "'rum'", "'run'"),
        (("show", "nobody"), "there is no journal", "--journal or --workspace"),
        (("diagram", "--state", "verfy"), "'verfy'", "verify"),
        (("check", "newcomers_module"), "'newcomers_module'", "MODULE:NAME"),
        (("check", "newcomers_module:NONE"), "newcomers_module:NONE", "has no 'NONE'"),
        (("check", "newcomers_module:PI"), "newcomers_module:PI", "a function that makes one"),
        (("check", "newcomers_module:Answer"), "Answer does not take the parts", "def make_loop(**parts)"),
        (("check", "newcomers_module:one_argument"), "one_argument does not take the parts", "def make_loop(**parts)"),
        (("check", "newcomers_module:raises_nothing_but_makes_none"), "makes no Loop", "def make_loop(**parts)"),
    ],
)
def test_a_mistake_is_named_with_the_way_out(mistaken, words, said, way_out):
    status, err = mistaken(*words)

    assert status == 2, err
    assert said in err
    assert way_out in err
    assert "Traceback" not in err
    assert not err.startswith("interlock: unexpected ")


def test_a_server_that_is_down_is_named_with_its_port_and_how_to_look_into_it(mistaken):
    status, err = mistaken(*RUN, "--patience", "0", "--session", "s")

    assert status == 3
    assert "127.0.0.1: no connection to port 9: " in err
    assert f"interlock doctor --provider openai --model m --base-url {NOBODY}" in err
    assert "go on: interlock resume s (--base-url URL: with another server)" in err


def test_an_address_that_a_server_does_not_know_leads_to_doctor(mistaken):
    with ChatServer(lambda body, number: error(404, "Not Found")) as server:
        status, err = mistaken("run", "hi", "--model", "m", "--base-url", server.url, "--api-key-env", "MINE")

    assert status == 1
    assert f"interlock doctor --provider openai --model m --base-url {server.url} --api-key-env MINE" in err


def test_a_session_that_is_there_already_says_how_to_name_another(mistaken, tmp_path):
    loop = Loop(provider=Scripted([says("hi")]), journal=str(tmp_path / ".interlock" / "journal.db"))
    assert loop.run_sync("hi", session="s").succeeded
    assert call(["export", "s", "-o", "s.jsonl"]) == 0

    status, err = mistaken("import", "s.jsonl")

    assert status == 2
    assert "there is a session 's' already" in err
    assert "--name NAME" in err


def test_the_list_of_commands_cuts_no_sentence_off(capsys):
    assert call(["--help"]) == 0
    listed = capsys.readouterr().out.partition("Commands:")[2]

    assert "..." not in listed
    assert "and derive every verdict and move again." in " ".join(listed.split())


def test_a_finished_session_is_resumed_without_an_event_loop(tmp_path):
    loop = Loop(provider=Scripted([says("one"), says("two")]), journal=str(tmp_path / "j.db"))
    assert loop.run_sync("hi", session="s").text == "one"

    assert loop.resume_sync("s").text == "one"
    assert loop.resume_sync("s", "again").text == "two"


def test_resume_sync_refuses_to_wait_within_an_event_loop(tmp_path):
    import asyncio

    loop = Loop(provider=Scripted([says("one")]), journal=str(tmp_path / "j.db"))

    async def within():
        loop.resume_sync("s")

    with pytest.raises(ConfigError, match=r"await loop.resume"):
        asyncio.run(within())
