"""MCP servers, real ones: over standard streams and HTTP, well and dying, our own and others' from the registry."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from support.bench import Bench
from tools.processes import gone

from fsm import Loop, MCPServer, RunStatus, tool
from fsm.journal.memory import MemoryJournal
from fsm.offered import offered
from fsm.providers.scripted import Scripted, asks_for, says
from fsm.tools import Tools
from fsm.tools.compose import joined, picked
from states.codec import encode
from states.errors import ConfigError
from states.living import Living
from states.messages import Image
from states.ports import ToolRun
from states.records import Status

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp_types import Tool as Listed
from mcp_types import ToolAnnotations

from fsm.tools.mcp.remote import RemoteTool, remote_tools
from fsm.tools.mcp.source import MCPSource

PROBE = str(Path(__file__).parents[1] / "support" / "mcp_server.py")
TOKEN = "a-token-of-some-length"  # no secret: it is looked for
PATIENCE = 120.0
"""Seconds in which a server must be up, also on a machine that has other things to do."""
PIXEL = "iVBORw0KGgo="


async def until(happened):
    """Other processes have no events of ours to wait for."""
    while not happened():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


class Desk:
    """A toolbox with one server, and a way to call it."""

    def __init__(self, server, log):
        self.source = MCPSource(server)
        self.tools = Tools([], sources=[self.source])
        self.server, self.log = server, log
        self.lines = []

    async def call(self, name, /, **arguments):
        run = ToolRun(f"mcp__{self.server.name}__{name}", arguments, "s:5", self.lines.append)
        return await self.tools.run(run)

    async def noted(self, line):
        """Until the server has written this line down."""
        await until(lambda: self.log.exists() and line in self.log.read_text().splitlines())

    async def shown(self, *lines):
        await until(lambda: self.lines == list(lines))

    async def stale(self):
        await until(lambda: self.source._connection.stale)

    def names(self):
        return [spec.name.rpartition("__")[2] for spec in self.tools.specs]


def probe(tmp_path, **options):
    return MCPServer(
        "probe", sys.executable, ["-P", PROBE, "stdio", str(tmp_path / "log")], start_seconds=PATIENCE, **options
    )


@asynccontextmanager
async def at_work(server, tmp_path):
    desk = Desk(server, tmp_path / "log")
    async with asyncio.timeout(2 * PATIENCE):
        await desk.tools.open()
        try:
            yield desk
        finally:
            await desk.tools.close()


def test_a_program_is_started_asked_and_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not for servers")

    async def story():
        async with at_work(probe(tmp_path, env={"MY_TOKEN": TOKEN}, tools=["*"]), tmp_path) as desk:
            assert desk.names()[:3] == ["add", "put", "slow"]
            added = await desk.call("add", a=1, b=2)
            assert (added.status, added.text, added.metadata) == (
                Status.OK, "3", {"structured_content": {"result": 3}}
            )  # fmt: skip
            refused = await desk.call("add", a="one", b=2)
            assert "a: expected integer, got string" in refused.text
            assert (await desk.call("key")).text == "s:5"
            failed = await desk.call("fail")
            assert failed.status is Status.ERROR
            shown = await desk.call("picture")
            assert (shown.text, shown.images) == ("a pixel", (Image("image/png", PIXEL),))
            assert (await desk.call("environment", name="MY_TOKEN")).text == TOKEN
            assert (await desk.call("environment", name="OPENAI_API_KEY")).text == "not set"
            return int(desk.log.read_text().split()[1])

    assert gone(asyncio.run(story()))


def test_an_answer_that_is_not_what_the_server_promises_is_an_error_and_the_server_lives_on(tmp_path):
    async def story():
        async with at_work(probe(tmp_path, tools=["boast", "forget"]), tmp_path) as desk:
            boasted = await desk.call("boast")
            assert boasted.status is Status.ERROR
            fault = "(result: expected string, got integer 3)"
            assert boasted.text == f"Error: the tool ran, but its answer is not what it promises {fault}:\n3"
            assert boasted.metadata == {"structured_content": {"result": 3}}
            forgot = await desk.call("forget")
            assert (forgot.status, forgot.text) == (
                Status.ERROR,
                "Error: the tool ran, but its answer is not what it promises (it has no structured content):\nwords",
            )
            assert desk.log.read_text().splitlines()[1:] == ["boasted"], "it was not started again"

    asyncio.run(story())


def test_a_program_that_dies_is_an_unknown_call_and_is_started_again(tmp_path):
    async def story():
        async with at_work(probe(tmp_path), tmp_path) as desk:
            task = asyncio.create_task(desk.call("slow", steps=3))
            await desk.noted("waiting")
            await desk.shown("step 1", "step 2", "step 3")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await desk.noted("cancelled")

            dead = await desk.call("die")
            assert dead.status is Status.UNKNOWN
            assert "it is being started again" in dead.text
            again = await desk.call("add", a=1, b=2)
            assert again.text == "3"

            await desk.call("die")
            down = await desk.call("die")
            assert down.status is Status.ERROR
            assert "is down (it ended; its last words: a last word). Not started" in down.text
            return desk.log.read_text().count("pid")

    assert asyncio.run(story()) == 2


def test_a_loop_offers_a_new_tool_at_the_next_turn_and_keeps_the_token_out_of_the_journal(tmp_path):
    @tool(read_only=True)
    async def told() -> str:
        """Wait until the server has said that its tools have changed."""
        await until(lambda: bench.loop._tools.boxes[1]._sources[0]._connection.stale)
        return "told"

    bench = Bench(
        asks_for(("mcp__probe__environment", {"name": "MY_TOKEN"}), ("mcp__probe__grow", {}), ("told", {})),
        asks_for(("mcp__probe__grown", {})),
        says("done"),
        tools=[told, probe(tmp_path, env={"MY_TOKEN": TOKEN}, tools=["env*", "gr*"])],
    )

    async def story():
        async with asyncio.timeout(2 * PATIENCE), bench.loop:
            result = await bench.run()
            entries = await bench.journal.read("s")
            return result, b"".join(encode(entry.record) for entry in entries)

    result, journal = asyncio.run(story())
    offered = [[spec.name for spec in request.tools if "probe" in spec.name] for request in bench.provider.requests]

    assert result.status is RunStatus.SUCCEEDED
    assert bench.answers()[-1].text == "grown"
    assert offered[0] == ["mcp__probe__environment", "mcp__probe__grow"]
    assert offered[1] == offered[2] == ["mcp__probe__environment", "mcp__probe__grow", "mcp__probe__grown"]
    assert bench.answers()[0].text == "[redacted]"
    assert TOKEN.encode() not in journal


def test_a_deferred_server_tells_names_and_its_new_tools_too_until_they_are_loaded(tmp_path):
    @tool(read_only=True)
    async def told() -> str:
        """Wait until the server has said that its tools have changed."""
        await until(lambda: bench.loop._tools.boxes[1]._sources[0]._connection.stale)
        return "told"

    bench = Bench(
        asks_for(("tool_search", {"names": ["mcp__probe__grow"]})),
        asks_for(("mcp__probe__grow", {}), ("told", {})),
        asks_for(("tool_search", {"query": "grown"})),
        asks_for(("mcp__probe__grown", {})),
        says("done"),
        tools=[told, probe(tmp_path, tools=["gr*"], deferred=True)],
    )

    async def story():
        async with asyncio.timeout(2 * PATIENCE), bench.loop:
            return await bench.run()

    assert asyncio.run(story()).status is RunStatus.SUCCEEDED
    sent = [[spec.name for spec in request.tools if "probe" in spec.name] for request in bench.provider.requests]
    grow, grown = "mcp__probe__grow", "mcp__probe__grown"
    assert sent == [[], [grow], [grow], [grow, grown], [grow, grown]]
    told_of = [
        [name for name in (grow, grown) if f"- {name}:" in spec.description or f"- {name}\n" in f"{spec.description}\n"]
        for request in bench.provider.requests
        for spec in request.tools
        if spec.name == "tool_search"
    ]
    assert told_of == [[grow], [grow], [grow, grown], [grow, grown], [grow, grown]]
    assert bench.answers()[-1].text == "grown"


@contextmanager
def served(tmp_path, port):
    log = tmp_path / "log"
    log.unlink(missing_ok=True)
    command = [sys.executable, "-P", PROBE, "http", str(log), str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


async def answering(port):
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.02)
        else:
            writer.close()
            return


def test_a_server_over_http_is_asked_lost_and_found_again(tmp_path):
    port = free_port()
    server = MCPServer("probe", url=f"http://127.0.0.1:{port}/mcp", headers={"Authorization": f"Bearer {TOKEN}"})

    async def story():
        with served(tmp_path, port):
            await answering(port)
            desk = Desk(server, tmp_path / "log")
            await desk.tools.open()
            assert (await desk.call("header", name="authorization")).text == f"Bearer {TOKEN}"

            task = asyncio.create_task(desk.call("slow", steps=2))
            await desk.noted("waiting")
            await desk.shown("step 1", "step 2")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await desk.noted("cancelled")

            await desk.call("grow")
            await desk.stale()
            await desk.tools.refresh()
            assert desk.names()[-1] == "grown"
            assert (await desk.call("die")).status is Status.UNKNOWN
        assert (await desk.call("add", a=1, b=2)).status is not Status.OK
        with served(tmp_path, port):
            await answering(port)
            while (answer := await desk.call("add", a=1, b=2)).status is not Status.OK:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await desk.tools.refresh()
            assert "grown" not in desk.names()
            await desk.tools.close()
            return answer.text

    assert asyncio.run(asyncio.wait_for(story(), 2 * PATIENCE)) == "3"
    assert set(server.secrets) == {f"Bearer {TOKEN}", TOKEN}


# --- others' servers ----------------------------------------------------------------------------------------------


def installed(name):
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    return found or pytest.skip(f"{name} is not installed: pip install {name}")


def test_the_time_server_of_the_registry_converts_a_time(tmp_path):
    server = MCPServer("time", installed("mcp-server-time"), ["--local-timezone", "UTC"], start_seconds=PATIENCE)

    async def story():
        async with at_work(server, tmp_path) as desk:
            asked = {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}
            return desk.names(), await desk.call("convert_time", **asked), await desk.call("get_current_time")

    names, converted, refused = asyncio.run(story())

    assert sorted(names) == ["convert_time", "get_current_time"]
    assert converted.status is Status.OK
    assert "Asia/Tokyo" in converted.text
    assert "missing 'timezone'" in refused.text


def test_the_git_server_of_the_registry_reads_a_repository(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path / "repo")], check=True)
    (tmp_path / "repo" / "new.txt").write_text("x")
    server = MCPServer(
        "git",
        installed("mcp-server-git"),
        tools=["git_status", "git_add"],
        trust_annotations=True,
        start_seconds=PATIENCE,
    )

    async def story():
        async with at_work(server, tmp_path) as desk:
            before = await desk.call("git_status", repo_path=str(tmp_path / "repo"))
            added = await desk.call("git_add", repo_path=str(tmp_path / "repo"), files=["new.txt"])
            return {spec.name: spec.read_only for spec in desk.tools.specs}, before, added

    specs, before, added = asyncio.run(story())

    assert specs == {"mcp__git__git_status": True, "mcp__git__git_add": False}
    assert "new.txt" in before.text
    assert added.status is Status.OK


# --- what is said about a server ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "a b", "command": "x"}, "letters, digits"),
        ({"name": "a"}, "either command"),
        ({"name": "a", "command": "x", "url": "http://127.0.0.1"}, "either command"),
        ({"name": "a", "url": "127.0.0.1:80"}, "begins with http"),
        ({"name": "a", "command": "x", "headers": {"A": "b"}}, "a program gets env"),
        ({"name": "a", "url": "http://127.0.0.1", "args": ["x"]}, "a url gets headers"),
        ({"name": "a", "command": "x", "start_seconds": 0}, "start_seconds=0"),
        ({"name": "a", "command": "x", "quiet_seconds": float("nan")}, "quiet_seconds=nan"),
    ],
)
def test_what_cannot_be_a_server_is_refused_by_name(options, words):
    with pytest.raises(ConfigError, match=words):
        MCPServer(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"command": "/no/such/program"}, "No such file"),
        ({"command": sys.executable, "args": ["-c", "raise SystemExit('no licence')"]}, "no licence"),
        ({"command": "sleep", "args": ["1000"], "start_seconds": 0.3}, "not ready within 0.3 s"),
        ({"url": f"http://127.0.0.1:{free_port()}/mcp"}, "connection attempts failed"),
    ],
)
def test_a_server_that_does_not_come_up_is_told_before_any_session_begins(options, words):
    journal = MemoryJournal()

    async def story():
        loop = Loop(provider=Scripted([]), tools=[MCPServer("x", **options)], journal=journal)
        with pytest.raises(ConfigError, match=r"(?s)MCP server 'x' is down.*leave it out") as refused:
            await loop.run("go")
        return str(refused.value), await journal.sessions()

    said, sessions = asyncio.run(asyncio.wait_for(story(), 2 * PATIENCE))

    assert words in said
    assert sessions == []


def test_two_servers_of_one_name_are_refused():
    servers = [MCPServer("x", "true"), MCPServer("x", "false")]

    with pytest.raises(ConfigError, match="two MCP servers are called 'x'"):
        Loop(provider=Scripted([]), tools=servers, journal=MemoryJournal())


class Standing:
    """A connection that only knows what was listed, to a server that never answers."""

    def __init__(self, server, *listing):
        self.server, self.listing = server, listing

    async def up(self):
        return self

    async def call_tool(self, *_, progress_callback, **__):
        await progress_callback(1, 2, None)
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("options", "status"),
    [({}, Status.UNKNOWN), ({"idempotent": ["put"]}, Status.ERROR)],
    ids=["pay once", "repeatable"],
)
def test_a_call_without_an_answer_is_given_up_and_what_may_be_repeated_is_an_error(options, status):
    server = MCPServer("s", "x", quiet_seconds=0.05, **options)
    lines = []
    run = ToolRun("mcp__s__put", {}, "s:1", lines.append)
    output = asyncio.run(remote_tools(Standing(server, listed("put")))[0].run(run))

    assert output.status is status
    assert "no answer and no progress for 0.05 s" in output.text
    assert lines == ["1 of 2"]


def listed(name, **hints):
    schema = {"type": "object", "properties": {}}
    return Listed(name=name, description="d", input_schema=schema, annotations=ToolAnnotations(**hints))


def test_a_name_that_the_server_does_not_have_is_a_mistake():
    source = MCPSource(MCPServer("s", "x", tools=["add", "ad*", "ad"]))

    with pytest.raises(ConfigError, match=r"has no tool 'ad' \(tools=...\); it has add, put"):
        source._check_names(Standing(source.server, listed("add"), listed("put")))


HINTED = [listed("look", read_only_hint=True), listed("put", idempotent_hint=True), listed("pay")]


@pytest.mark.parametrize(
    ("options", "read_only", "idempotent"),
    [
        ({}, [], []),
        ({"trust_annotations": True}, ["look"], ["put"]),
        ({"read_only": ["lo*"], "idempotent": ["pay"]}, ["look"], ["pay"]),
        ({"trust_annotations": True, "tools": ["p*"]}, [], ["put"]),
    ],
)
def test_hints_are_believed_only_where_the_user_says_so(options, read_only, idempotent):
    specs = {t.remote: t.spec for t in remote_tools(Standing(MCPServer("s", "x", **options), *HINTED))}

    assert [name for name, spec in specs.items() if spec.read_only] == read_only
    assert [name for name, spec in specs.items() if spec.concurrency_safe] == read_only
    assert [name for name, spec in specs.items() if spec.idempotent] == idempotent
    assert not any(spec.reconcilable for spec in specs.values())


@pytest.mark.parametrize("name", ["a.b", "a/b", "x" * 60, "ä"])
def test_every_name_is_one_that_providers_take(name):
    tools = remote_tools(Standing(MCPServer("s", "x"), listed(name), listed("ok")))

    assert tools[0].remote == name
    assert len(tools[0].spec.name) <= 64
    assert tools[0].spec.name.startswith("mcp__s__")
    assert tools[0].spec.name.replace("_", "").replace("-", "").isascii()
    assert tools[1].spec.name == "mcp__s__ok"


class Fixed:
    """A source with the tools of a `Standing`."""

    secrets = ()

    def __init__(self, *listing):
        self.tools = remote_tools(Standing(MCPServer("s", "x"), *listing))


def test_a_tool_that_cannot_be_offered_is_left_out_and_logged(caplog):
    broken = Listed(name="broken", input_schema={"type": "object", "properties": {"a": {"type": "nonsense"}}})
    tools = Tools([], sources=[Fixed(broken, listed("ok"), listed("ok"))])

    assert [spec.name for spec in tools.specs] == ["mcp__s__ok"]
    assert "mcp__s__broken" in caplog.text
    assert "a second tool called 'mcp__s__ok'" in caplog.text


class Box(Tools):
    """A toolbox that writes down what it is asked to do."""

    def __init__(self, name):
        super().__init__([tool(name=name)(lambda: None)])
        self.secret, self.asked = f"secret of {name}", []

    @property
    def secrets(self):
        return (self.secret,)

    async def open(self):
        self.asked.append("open")

    async def refresh(self):
        self.asked.append("refresh")

    async def leave(self, session):
        self.asked.append(f"leave {session}")

    async def close(self):
        self.asked.append("close")


def test_toolboxes_that_are_joined_or_picked_from_live_as_their_parts_do():
    first, second = Box("first"), Box("second")
    whole = offered(picked(joined(first, second), ["first"]), ("first",))

    async def story():
        await whole.open()
        await whole.refresh()
        await whole.leave("s")
        await whole.close()

    asyncio.run(story())

    assert isinstance(whole, Living)
    assert whole.secrets == ("secret of first", "secret of second")
    assert first.asked == second.asked == ["open", "refresh", "leave s", "close"]


def test_a_lost_call_is_unknown_because_a_server_cannot_be_asked_about_it():
    remote = Fixed(listed("pay")).tools[0]
    assert isinstance(remote, RemoteTool)

    assert asyncio.run(remote.reconcile(ToolRun("mcp__s__pay", {}, "s:1"))).status is Status.UNKNOWN


def test_only_what_looks_like_a_secret_is_kept_out():
    server = MCPServer("s", "x", env={"API_KEY": "12345678", "LOG_LEVEL": "debugging", "TOKEN": "short"})

    assert server.secrets == ("12345678",)
    assert "12345678" not in repr(server)


def test_a_killed_loop_takes_its_server_along(tmp_path):
    code = (
        "import asyncio, sys\n"
        "from fsm.tools import MCPServer, Tools\n"
        "from fsm.tools.mcp.source import MCPSource\n"
        "async def main():\n"
        "    server = MCPServer('probe', sys.executable, ['-P', sys.argv[1], 'stdio', sys.argv[2]])\n"
        "    await Tools([], sources=[MCPSource(server)]).open()\n"
        "    print('up', flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    log = tmp_path / "log"
    command = [sys.executable, "-c", code, PROBE, str(log)]
    project = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "up\n"
        child.send_signal(signal.SIGKILL)

    assert gone(int(log.read_text().split()[1]), seconds=PATIENCE)
