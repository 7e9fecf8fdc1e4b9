"""Sessions whose conversation was compacted live like any other: killed, taken up, forked, exported, audited."""

import asyncio
import subprocess
import sys
from functools import cache
from pathlib import Path

import attrs
import pytest
from support.bench import Bench, story
from support.boxes import Revision
from support.past import Past

from fsm import Agent, Budget, Contract
from fsm.audit import audit
from fsm.checks.claims import unpaired
from fsm.graph import GRAPH
from fsm.providers.scripted import Scripted, asks_for
from states.errors import CommitFailed, ConfigError, SessionBusy
from states.ledger import BEGIN, HEADINGS, INSTRUCTION
from states.messages import Call, Finish, Text, Usage, UserMessage
from states.ports import Reply
from states.records import AssistantTurn, Cause, ChainChange, Compaction, How, ProviderChange

SCRIPT = Path(__file__).parent.parent / "support" / "compaction_at_work.py"
LEDGER = "\n".join(f"## {heading}\nkept" for heading in HEADINGS)
WINDOW = 40_000


class Talker(Scripted):
    """Calls `look` at every turn with much to say and counts what it is sent, until it has spoken `turns` times."""

    def __init__(self, turns, words=600):
        super().__init__([])
        self.left, self.words, self.ledgers = turns, "words " * words, 0

    async def stream(self, request):
        self.requests.append(attrs.evolve(request, messages=tuple(request.messages)))
        sent = sum(len(str(message)) for message in request.messages) // 4
        if request.messages[-1] == UserMessage(INSTRUCTION):
            self.ledgers += 1
            yield Reply((Text(LEDGER),), Finish.STOP, Usage(sent, 50), "m")
        elif self.left > 0:
            self.left -= 1
            call = Call("", "look", f'{{"key":"{self.left}"}}')
            yield Reply((Text(self.words), call), Finish.CALLS, Usage(sent, 900), "m")
        else:
            yield Reply((Text("PASS\n\nVERDICT: PASS"),), Finish.STOP, Usage(sent, 5), "m")


# --- a process that is lost ---------------------------------------------------------


def start(home, *more):
    return subprocess.Popen([sys.executable, SCRIPT, home, *more], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("moment", "ledgers"), [("ledger", 1), ("turn", 1)])
def test_a_process_that_is_killed_leaves_a_conversation_that_is_whole_or_compacted(tmp_path, moment, ledgers):
    """Killed while the ledger is written: it is asked for again. Killed after the checkpoint: it is not."""
    with start(tmp_path, moment) as first:
        assert first.stdout.readline() == "reached\n"
        first.kill()
    (tmp_path / "go").touch()
    with start(tmp_path, moment, "resume") as second:
        said = second.stdout.read()

    assert said == "all done 1 0 0"
    assert (tmp_path / "effects").read_text() == "0\n1\n2\n3\n"
    assert (tmp_path / "ledgers").read_text().count("asked") == ledgers


def test_a_checkpoint_that_cannot_be_committed_replaces_nothing():
    async def tale():
        bench = Bench(provider=Talker(30), window=WINDOW)

        def full(claim, drafts):
            if any(draft.kind == "compaction" for draft in drafts):
                raise CommitFailed("the disk is full")

        bench.journal._before = full
        broken = await bench.run()
        kept = (await bench.history()).messages
        bench.journal.crash()
        bench.journal._before = lambda claim, drafts: None
        again = await bench.resume()
        return broken, kept, again, len(await bench.records(Compaction)), await bench.journal.read("s")

    broken, kept, again, compactions, entries = story(tale())
    assert (broken.status, broken.reason) == ("failed", "message_persistence_failed")
    assert kept[0] == UserMessage("go")
    assert (again.status, compactions) == ("succeeded", 1)
    assert audit(GRAPH, entries, "s") == []


# --- long, and in parts -------------------------------------------------------------


async def long_session(turns=30, **options):
    bench = Bench(provider=Talker(turns), window=WINDOW, budget=Budget(max_turns=turns + 5), **options)
    result = await bench.run("Never touch the API.")
    return bench, result


def test_two_hundred_turns_with_compactions_audit_clean():
    async def tale():
        bench, result = await long_session(220)
        return result, await bench.journal.read("s"), bench.provider

    result, entries, model = story(tale(), 60)
    turns = [entry.record for entry in entries if isinstance(entry.record, AssistantTurn)]
    made = [entry.record for entry in entries if isinstance(entry.record, Compaction)]
    assert (result.status, len(turns), len(made)) == ("succeeded", 221, model.ledgers)
    assert len(made) > 5
    assert all("1. Never touch the API." in one.summary for one in made)
    assert all(one.summary.count(BEGIN) == 1 for one in made)  # a ledger replaces the one before
    assert audit(GRAPH, entries, "s") == []
    assert result.usage.total == sum(one.usage.total for one in (*turns, *made))
    for request in model.requests:
        assert unpaired(request.messages) is None
        assert sum(len(str(message)) for message in request.messages) // 4 < WINDOW


def test_forks_and_archives_keep_the_checkpoint():
    async def tale():
        bench, _ = await long_session()
        entries = await bench.journal.read("s")
        (place,) = [entry.seq for entry in entries if isinstance(entry.record, Compaction)]
        after = await bench.loop.fork("s", name="after", at=place)
        before = await bench.loop.fork("s", name="before", at=place - 1)
        first = [(await bench.history(name)).messages[0].text for name in (before, after)]
        bench.provider.left = 2
        done = [await bench.loop.resume(name, "go on") for name in (before, after)]
        found = [audit(GRAPH, await bench.journal.read(name), name) for name in (before, after)]
        packed = await bench.loop.export("s")
        await bench.loop.delete("s")
        await bench.loop.import_session(packed)
        return first, done, found, [entry.record for entry in await bench.journal.read("s")], entries

    first, done, found, records, entries = story(tale())
    assert (first[0], first[1].startswith(BEGIN)) == ("Never touch the API.", True)
    assert [result.status for result in done] == ["succeeded"] * 2
    assert found == [[], []]
    assert records == [entry.record for entry in entries]


def test_a_session_that_somebody_works_on_is_not_compacted_by_another():
    async def tale():
        bench = Bench(asks_for(("hang", {})))
        work = asyncio.create_task(bench.run())
        await bench.ledger.started.wait()
        with pytest.raises(SessionBusy):
            await bench.loop.compact("s")
        await bench.loop.cancel("s")
        await work

    story(tale())


def test_a_run_that_was_lost_in_the_middle_is_resumed_before_it_is_compacted():
    async def tale():
        bench = Bench(asks_for(("hang", {})))
        await bench.lost_at(bench.ledger.started)
        with pytest.raises(ConfigError, match="resume it, or cancel it first"):
            await bench.loop.compact("s")

    story(tale())


# --- whoever works for a run --------------------------------------------------------


def test_agents_that_ask_their_callers_model_watch_its_window_too():
    async def tale():
        model, own = Talker(30), Talker(30)
        agents = [Agent("same", "Works.", "Work."), Agent("other", "Works.", "Work.", provider=own)]
        tasks = asks_for(*(("task", {"agent": name, "prompt": "work"}) for name in ("same", "other")))

        async def stream(request):
            started = [spec.name for spec in request.tools]
            if "task" in started and len(request.messages) == 1:
                yield tasks
                return
            async for item in model.stream(request):
                yield item

        parent = Talker(0)
        parent.stream = stream
        bench = Bench(provider=parent, window=WINDOW, agents=agents)
        result = await bench.run()
        made = {}
        for info in await bench.journal.sessions():
            history = await bench.history(info.session)
            made[history.started.agent] = (history.compactions, history.window is not None)
            assert audit(GRAPH, await bench.journal.read(info.session), info.session) == []
        return result, made

    result, made = story(tale())
    assert result.status == "succeeded"
    assert made == {"": (0, True), "same": (1, True), "other": (0, False)}


def test_a_verifier_that_looks_for_long_is_compacted_and_agrees():
    async def tale():
        model = Talker(0)

        async def stream(request):
            if "look" in {spec.name for spec in request.tools} and "VERDICT" in request.system:
                async for item in verifier.stream(request):
                    yield item
                return
            async for item in model.stream(request):
                yield item

        verifier, asked = Talker(16, 1200), Talker(0)
        asked.stream = stream
        bench = Bench(provider=asked, window=WINDOW, workspace=Revision(), contract=Contract(verify="always"))
        result = await bench.run()
        (child,) = [info.session for info in await bench.journal.sessions() if info.session != "s"]
        history = await bench.history(child)
        return result, history.compactions, audit(GRAPH, await bench.journal.read(child), child)

    result, compactions, found = story(tale())
    assert (result.status, compactions, found) == ("succeeded", 1, [])


# --- what the audit finds -----------------------------------------------------------


@cache
def compacted_session():
    async def tale():
        bench, _ = await long_session()
        return await bench.journal.read("s")

    return story(tale())


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"summary": "The user wants nothing any more."}, "does not say what was asked for"),
        ({"dropped": 2}, "others were due"),
        ({"trimmed": ("call_1_0",)}, "others were due"),
        ({"cause": Cause.OVERFLOW}, "nothing calls for"),
        ({"how": How.OUTLINE}, "does not say what was asked for"),
    ],
)
def test_a_forged_compaction_is_found(fields, why):
    entries = compacted_session()
    place = next(at for at, entry in enumerate(entries) if isinstance(entry.record, Compaction))
    forged = attrs.evolve(entries[place], record=attrs.evolve(entries[place].record, **fields))
    found = audit(GRAPH, [*entries[:place], forged], "s")
    assert why in found[0]
    assert found[0].startswith(f"record {entries[place].seq}: ")


def test_another_window_alone_leaves_the_provider_that_was_called_in():
    past = Past().add(ChainChange(("m", "n")), ProviderChange(1, 1, "m is down", "n"))
    past.add(ChainChange(("m", "n"), 5000))
    assert (past.history.provider, past.history.window) == (1, 5000)
    past.add(ChainChange(("n", "m"), 5000))
    assert past.history.provider == 0
