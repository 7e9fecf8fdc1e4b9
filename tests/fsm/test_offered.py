"""A whitelist of tools: what the model is sent, what runs, and what a resume finds."""

import pytest
from support.bench import Bench, story

from fsm.providers.scripted import asks_for, says
from fsm.tools import tool
from states.errors import ConfigError
from states.ports import ProviderTrouble
from states.records import RunStarted, ToolIntent, Trouble


@tool(read_only=True)
async def mcp__files__list() -> str:
    """List."""
    return "a, b"


@tool(read_only=True)
async def mcp__files__read() -> str:
    """Read."""
    return "text"


@tool(read_only=True)
async def ask_oracle() -> str:
    """Ask."""
    return "42"


TOOLS = (mcp__files__list, mcp__files__read, ask_oracle)


def offered(bench, number=-1):
    return [spec.name for spec in bench.provider.requests[number].tools]


def test_only_the_named_tools_are_sent_and_the_run_says_which():
    bench = Bench(says("ok"), tools=TOOLS, only=["ask_oracle", "mcp__files__*"])
    story(bench.run())

    assert offered(bench) == ["mcp__files__list", "mcp__files__read", "ask_oracle"]
    (started,) = story(bench.records(RunStarted))
    assert started.tool_names == ("mcp__files__list", "mcp__files__read", "ask_oracle")
    assert started.only == ("ask_oracle", "mcp__files__*")


def test_a_call_of_a_tool_that_is_not_offered_is_answered_and_not_started():
    bench = Bench(asks_for(("mcp__files__list", "{}"), ("nothing", "{}")), says("ok"), tools=TOOLS, only=["ask_oracle"])
    story(bench.run())

    not_offered, unknown = (answer.text for answer in bench.answers())
    assert not_offered == (
        "Error: the tool 'mcp__files__list' is not offered in this run; the tools are ask_oracle. Not started."
    )
    assert unknown == "Error: there is no tool 'nothing'; the tools are ask_oracle. Not started."
    assert story(bench.records(ToolIntent)) == []


def test_a_resumed_run_is_offered_what_it_began_with_and_the_next_run_what_its_loop_says():
    down = ProviderTrouble(Trouble.DOWN, "down")
    bench = Bench(down, says("ok"), says("again"), tools=TOOLS, only=["ask_oracle"])
    story(bench.run())
    wider = Bench(provider=bench.provider, journal=bench.journal, tools=TOOLS)

    assert story(wider.resume()).text == "ok"
    assert offered(wider) == ["ask_oracle"]
    assert story(wider.resume("more")).text == "again"
    assert "mcp__files__read" in offered(wider)


def test_no_tool_at_all_can_be_meant():
    bench = Bench(says("ok"), tools=TOOLS, only=[])
    story(bench.run())

    assert offered(bench) == []


@pytest.mark.parametrize(("only", "named"), [(["orakel"], "'orakel'"), (["x_*"], "'x_*'"), ("ask_oracle", "a list")])
def test_a_whitelist_that_fits_nothing_is_refused_by_name(only, named):
    with pytest.raises(ConfigError, match=named.replace("*", r"\*")):
        Bench(tools=TOOLS, only=only)


def test_tools_of_a_server_that_is_not_there_yet_may_be_named():
    bench = Bench(says("ok"), tools=TOOLS, only=["mcp__later__*", "ask_oracle"])
    story(bench.run())

    assert offered(bench) == ["ask_oracle"]
