"""A flood of progress becomes a few events, in order, that say what was left out."""

import asyncio
import threading

from support.bench import Bench, story

from fsm import ToolContext, tool, workspace_tools
from fsm import events as ev
from fsm import flow as flow_module
from fsm.flow import PENDING, Flow
from fsm.providers.scripted import asks_for, says
from fsm.tools.context import relay


def test_the_first_line_is_shown_at_once_and_the_rest_together():
    async def tale():
        shown = []
        flow = Flow(lambda text, dropped: shown.append((text, dropped)))
        for number in range(4):
            flow.say(f"line {number}")
        at_once = list(shown)
        flow.end()
        return at_once, shown

    at_once, shown = story(tale())
    assert at_once == [("line 0", 0)]
    assert shown[1:] == [("line 1\nline 2\nline 3", 0)]


def test_lines_beyond_the_bound_lose_their_oldest_and_that_is_said():
    async def tale():
        shown = []
        flow = Flow(lambda text, dropped: shown.append((text.split("\n"), dropped)))
        for number in range(PENDING + 11):
            flow.say(str(number))
        flow.end()
        return shown

    (_, _), (lines, dropped) = story(tale())
    assert (len(lines), dropped) == (PENDING, 10)
    assert lines[-1] == str(PENDING + 10)


def test_a_flow_that_is_stopped_shows_nothing_more(monkeypatch):
    monkeypatch.setattr(flow_module, "PACE", 0)

    async def tale():
        shown = []
        flow = Flow(lambda text, dropped: shown.append(text))
        flow.say("first")
        flow.say("second")
        flow.stop()
        for _ in range(3):  # rounds of the event loop: what is due at once comes in the next
            await asyncio.sleep(0)
        return shown

    assert story(tale()) == ["first"]


def test_a_thread_that_outruns_the_loop_says_how_much_was_lost():
    async def tale():
        shown = []
        send = relay(shown.append, asyncio.get_running_loop())
        flood = threading.Thread(target=lambda: [send(str(number)) for number in range(PENDING + 5)])
        flood.start()
        flood.join()
        await asyncio.sleep(0)
        return shown

    first, *rest = story(tale())
    assert first == "[5 lines left out]"
    assert rest == [str(number) for number in range(5, PENDING + 5)]


def test_a_command_that_prints_megabytes_makes_few_events(tmp_path):
    """A hundred thousand lines were a hundred thousand events before."""

    async def tale():
        command = "for i in $(seq 100000); do echo line $i; done"
        bench = Bench(asks_for(("shell", {"command": command})), says("done"), tools=[renamed(tmp_path)])
        await bench.run()
        return bench.seen(ev.ToolProgress), bench.seen(ev.ToolEnd)

    progress, (end,) = story(tale(), 60)
    assert end.metadata["exit_status"] == 0
    assert 0 < len(progress) < 2_000
    assert progress[-1].text.endswith("line 100000")


def renamed(folder):
    """The real bash, beside the bench's pretended one."""
    import attrs

    bash = next(one for one in workspace_tools(folder) if one.spec.name == "bash")
    return attrs.evolve(bash, spec=attrs.evolve(bash.spec, name="shell"))


def test_nothing_is_shown_of_a_call_after_its_end():
    async def tale():
        @tool
        async def chat(context: ToolContext) -> str:
            """Say three things."""
            for word in ("one", "two", "three"):
                context.progress(word)
            return "said"

        bench = Bench(asks_for(("chat", {})), says("done"), tools=[chat])
        await bench.run()
        return [event for event in bench.events if isinstance(event, ev.ToolProgress | ev.ToolEnd)]

    first, second, end = story(tale())
    assert (first.text, second.text) == ("one", "two\nthree")
    assert isinstance(end, ev.ToolEnd)
