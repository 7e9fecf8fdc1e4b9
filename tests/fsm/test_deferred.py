"""Tools whose schemas are sent only once the model has loaded them; what is loaded is in the journal."""

import asyncio

import pytest
from support.bench import Bench, story

from fsm import Agent, Loop, tool
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.journal.memory import MemoryJournal
from fsm.providers.scripted import Scripted, asks_for, says
from fsm.tools.deferred import FOUND, NAMED, found
from states.errors import ConfigError
from states.ports import ToolSpec
from states.records import Status, ToolIntent


@tool(deferred=True, read_only=True, concurrency_safe=True)
async def weather(city: str) -> str:
    """Tell the weather of a city.

    A long text about it follows.
    """
    return f"rain in {city}"


@tool(deferred=True)
async def send_mail(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


TOOLS = (weather, send_mail)
LOAD = asks_for(("tool_search", {"names": ["weather"]}))
CALL = asks_for(("weather", {"city": "Rome"}))


def names(bench, number):
    return [spec.name for spec in bench.provider.requests[number].tools]


def run(*turns, tools=TOOLS, **options):
    bench = Bench(*turns, tools=tools, **options)
    bench.result = story(bench.run())
    return bench


def catalogue(bench, number=0):
    return next(spec for spec in bench.provider.requests[number].tools if spec.name == "tool_search").description


def test_a_deferred_tool_is_told_by_its_name_and_first_line_and_its_schema_is_not_sent():
    bench = run(says("done"))

    assert names(bench, 0) == ["look", "write", "hang", "bash", "explode", "tool_search"]
    assert catalogue(bench).endswith("There are:\n- weather: Tell the weather of a city.\n- send_mail: Send a letter.")
    assert "A long text" not in catalogue(bench)


def test_what_is_loaded_is_sent_from_the_next_turn_on_behind_what_was_sent_before():
    bench = run(LOAD, CALL, says("done"))

    assert names(bench, 1) == names(bench, 2) == [*names(bench, 0), "weather"]
    assert catalogue(bench, 0) == catalogue(bench, 2)
    assert [answer.text for answer in bench.answers()] == [
        "Loaded; they can be called from the next turn on:\n- weather: Tell the weather of a city.",
        "rain in Rome",
    ]
    sent = bench.provider.requests
    assert all(one is other for one, other in zip(sent[1].tools, sent[2].tools, strict=True))
    assert audit(GRAPH, asyncio.run(bench.journal.read("s")), "s") == []


def test_one_that_is_called_unloaded_is_not_started_and_the_way_is_told():
    bench = run(CALL, says("done"))

    (answer,) = bench.answers()
    assert answer.failed
    assert answer.text == (
        "Error: weather is not loaded, so its parameters are not known to you. Load it with tool_search "
        '{"names": ["weather"]}; it can be called from the next turn on. Not started.'
    )
    assert asyncio.run(bench.records(ToolIntent)) == []


def test_loading_and_calling_in_one_turn_is_too_early():
    bench = run(asks_for(("tool_search", {"names": ["weather"]}), ("weather", {"city": "Rome"})), CALL, says("done"))

    first, early, late = bench.answers()
    assert first.text.startswith("Loaded")
    assert early.text.startswith("Error: weather is not loaded")
    assert late.text == "rain in Rome"


def test_an_unloaded_tool_does_not_start_ahead_of_its_turn():
    bench = run(CALL, says("done"), prestart=["weather"])

    assert bench.answers()[0].text.startswith("Error: weather is not loaded")


def test_what_is_loaded_survives_a_lost_process_and_another_run():
    async def lost():
        bench = Bench(LOAD, asks_for(("hang", {})), tools=TOOLS)
        await bench.lost_at(bench.ledger.started)
        later = Bench(CALL, says("one"), says("two"), tools=TOOLS, journal=bench.journal)
        await later.resume()
        await later.resume("and more")
        return later

    bench = story(lost())
    assert [names(bench, number)[-1] for number in range(3)] == ["weather"] * 3
    assert "rain in Rome" in [answer.text for answer in bench.answers()]


def test_a_lost_search_is_simply_made_again():
    async def lost():
        journal = MemoryJournal()
        bench = Bench(asks_for(("tool_search", {"names": ["weather"]}), ("hang", {})), tools=TOOLS, journal=journal)
        await bench.lost_at(bench.ledger.started)
        later = Bench(CALL, says("one"), tools=TOOLS, journal=journal)
        await later.resume()
        return later

    bench = story(lost())
    assert names(bench, 0)[-1] == "weather"
    assert bench.answers()[0].text.startswith("Loaded")


def test_a_fork_has_loaded_what_its_origin_had():
    async def forked():
        bench = Bench(LOAD, says("one"), says("two"), tools=TOOLS)
        await bench.run()
        await bench.loop.fork("s", name="f")
        await bench.loop.resume("f", "go on")
        return bench

    assert names(story(forked()), 2)[-1] == "weather"


def test_any_tool_can_be_deferred_by_name_or_pattern():
    bench = run(asks_for(("tool_search", {"names": ["write"]})), says("done"), tools=(), defer=["wri*", "hang"])

    assert names(bench, 0) == ["look", "bash", "explode", "tool_search"]
    assert names(bench, 1) == ["look", "bash", "explode", "tool_search", "write"]


def test_without_deferred_tools_there_is_nothing_to_search():
    bench = run(asks_for(("tool_search", {})), says("done"), tools=())

    assert "tool_search" not in names(bench, 0)
    assert "there is no tool 'tool_search'" in bench.answers()[0].text


def test_only_what_is_offered_can_be_loaded():
    bench = run(LOAD, says("done"), only=["look", "send_mail"])

    assert "weather" not in catalogue(bench)
    assert bench.answers()[0].text.startswith("Error: no deferred tool is called weather. Near it: send_mail")


def test_an_agent_loads_its_own_tools():
    helper = Scripted([LOAD, CALL, says("rain")])
    turns = [asks_for(("task", {"agent": "scout", "prompt": "look"})), says("done")]
    bench = run(*turns, agents=[Agent("scout", "Looks.", "You look.", provider=helper)])

    assert [spec.name for spec in helper.requests[1].tools][-1] == "weather"
    assert names(bench, 1)[-1] == "tool_search"


@pytest.mark.parametrize(
    ("defer", "said"),
    [
        ("write", r"defer takes a list of tools, not the text 'write'; write \['write'\]"),
        (["rite"], "defer: no tool fits 'rite'; there are: look, write"),
    ],
)
def test_what_cannot_be_deferred_is_named(defer, said):
    with pytest.raises(ConfigError, match=said):
        Bench(defer=defer)


def test_the_name_is_reserved():
    @tool
    async def tool_search() -> str:
        """Mine."""
        return ""

    with pytest.raises(ConfigError, match="a tool is called 'tool_search', which is the name of Interlock's own"):
        Loop(provider=Scripted([]), tools=[tool_search], journal=":memory:")


# --- searching --------------------------------------------------------------------------------------------------

MANY = [ToolSpec(f"files_{number}", f"Tool {number} for files.", {"type": "object"}) for number in range(30)]
MAIL = ToolSpec("post_letter", "Send MAIL to somebody.", {"type": "object"})


def test_words_find_what_fits_best():
    output = found([*MANY, MAIL], [], "send a letter by mail")

    assert output.metadata == {"loaded": ["post_letter"]}
    assert found([*MANY, MAIL], [], "files 7").metadata["loaded"][0] == "files_7"
    assert len(found(MANY, [], "files").metadata["loaded"]) == FOUND


@pytest.mark.parametrize(
    ("names", "query", "said"),
    [
        ([], "", "neither names nor a query; the description of tool_search lists"),
        ([], "zebra", "no deferred tool fits 'zebra'"),
        (["file_3"], "", "no deferred tool is called file_3. Near it: "),
        ([spec.name for spec in MANY[: NAMED + 1]], "", f"21 names; load at most {NAMED} tools at once"),
    ],
)
def test_a_search_that_finds_nothing_loads_nothing_and_says_why(names, query, said):
    output = found(MANY, names, query)

    assert output.status is Status.ERROR
    assert said in output.text
    assert "loaded" not in output.metadata
