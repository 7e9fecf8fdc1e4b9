"""Agents that work apart: in a git worktree each, whose changes come back and are applied, or are not."""

import asyncio
import re
from functools import partial
from pathlib import Path

import pytest
from support.repositories import by_place, git, repository, tools, write, writer

from fsm import Agent, Loop, load_agents, tool
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.providers.scripted import Scripted, asks_for, says
from states.contract import Isolation
from states.errors import ConfigError
from states.fold import fold
from states.messages import ToolMessage


def give(*names, **more):
    return asks_for(*(("task", {"agent": name, "prompt": "work", **more}) for name in names))


def answers(request):
    return [message for message in request.messages if isinstance(message, ToolMessage)]


def decide(what, number=0):
    """Call `what` with the handle of the agent whose answer came as the numberth."""

    def turn(request):
        handle = re.search(r"handle '([^']+)'", answers(request)[number].text)[1]
        return asks_for((what, {"handle": handle}))

    return turn


class Place:
    """A repository, a loop on it, and what its model was told."""

    def __init__(self, root, agents, *turns, **options):
        self.root = root
        self.provider = by_place(*turns, says("done"))
        own = (*tools(root), *options.pop("more", ()))
        self.make = partial(Loop, provider=self.provider, tools=own, workspace=root, agents=agents, **options)
        self.loop = self.make()

    def run(self):
        async def work():
            async with self.loop:
                result = await self.loop.run("go", session="s")
                entries = {
                    i.session: await self.loop.journal.read(i.session) for i in await self.loop.journal.sessions()
                }
                return result, entries

        result, self.entries = asyncio.run(asyncio.wait_for(work(), 30))
        return result

    @property
    def told(self):
        return [message.text for message in answers(self.provider.requests[-1])]

    def delete(self, session):
        async def work():
            async with self.make() as loop:
                await loop.delete(session)

        asyncio.run(work())


def test_two_agents_change_one_file_side_by_side_one_is_applied_and_the_other_conflicts(tmp_path):
    root = repository(tmp_path / "r", a="one\n")
    met = asyncio.Barrier(2)

    @tool(read_only=True)
    async def meet() -> str:
        """Wait for the other."""
        await met.wait()
        return "met"

    agents = [writer(name, write("a.txt", f"{name}\n"), ("meet", {})) for name in ("left", "right")]
    turns = (give("left", "right"), decide("task_apply"), decide("task_apply", 1), decide("task_apply"))
    place = Place(root, agents, *turns, more=[meet])

    result = place.run()

    assert result.succeeded
    left, right, applied, conflict, again = place.told
    assert "left is done" in left
    assert "-one\n+left\n" in left
    assert "-one\n+right\n" in right
    assert applied == "Applied. Changed in your workspace: a.txt."
    assert "conflict in a.txt" in conflict
    assert "were applied already" in again
    assert (root / "a.txt").read_text() == "left\n"
    history = fold("s", place.entries["s"])
    assert list(history.changed) == ["a.txt"]
    assert [audit(GRAPH, entries, name) for name, entries in place.entries.items()] == [[], [], []]


def test_an_agent_sees_what_its_caller_sees_and_touches_nothing_of_it(tmp_path):
    """Uncommitted changes, files that were deleted, and new ones; not those that git ignores."""
    root = repository(tmp_path / "r", a="one\n", gone="x\n")
    (root / ".gitignore").write_text("*.log\n")
    (root / "a.txt").write_text("two\n")
    (root / "gone.txt").unlink()
    (root / "new.txt").write_text("new\n")
    (root / "x.log").write_text("log\n")
    agent = writer("scout", ("bash", {"command": "ls; cat a.txt new.txt"}), write("b.txt", "b\n"))
    status = git(root, "status", "--porcelain")
    place = Place(root, [agent], give("scout"))

    place.run()

    seen = answers(agent.provider.requests[-1])[0].text
    assert "two\nnew\n" in seen
    assert "gone.txt" not in seen
    assert "x.log" not in seen
    assert git(root, "status", "--porcelain") == status
    assert not (root / "b.txt").exists()
    assert "+b\n" in place.told[0]
    assert "new.txt" not in place.told[0]


def test_new_files_binary_ones_deletions_links_and_modes_come_over(tmp_path):
    root = repository(tmp_path / "r", old="old\n")
    command = r"rm old.txt; printf '\000\377\001' > blob.bin; ln -s /nowhere/else link; echo '#!' > run; chmod +x run"
    place = Place(root, [writer("scout", ("bash", {"command": command}))], give("scout"), decide("task_apply"))

    place.run()

    assert place.told[-1].startswith("Applied.")
    assert not (root / "old.txt").exists()
    assert (root / "blob.bin").read_bytes() == b"\0\xff\1"
    assert str((root / "link").readlink()) == "/nowhere/else"
    assert (root / "run").stat().st_mode & 0o111


def test_nothing_that_the_repository_configures_runs_and_contents_stay_as_they_are(tmp_path):
    root = repository(tmp_path / "r", a="one\n")
    trap = tmp_path / "trapped"
    (root / ".gitattributes").write_text("*.txt filter=trap diff=trap merge=trap\n")
    for name in ("filter.trap.clean", "filter.trap.smudge", "diff.trap.textconv", "diff.external", "core.fsmonitor"):
        git(root, "config", name, f"touch {trap}; cat")
    hook = root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    place = Place(root, [writer("scout", write("a.txt", "two\n"))], give("scout"), decide("task_apply"))

    place.run()

    assert (root / "a.txt").read_text() == "two\n"
    assert not trap.exists()


def test_a_submodule_and_a_repository_inside_are_left_alone(tmp_path):
    inner = repository(tmp_path / "inner", i="inner\n")
    root = repository(tmp_path / "r", a="one\n")
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(root, "commit", "-q", "-m", "with a submodule")
    repository(root / "nested", n="nested\n")
    place = Place(root, [writer("scout", write("a.txt", "two\n"))], give("scout"), decide("task_apply"))

    place.run()

    assert place.told[-1] == "Applied. Changed in your workspace: a.txt."
    assert (root / "sub" / "i.txt").read_text() == "inner\n"
    assert (root / "nested" / "n.txt").read_text() == "nested\n"


def test_a_workspace_below_the_top_has_its_place_in_the_worktree(tmp_path):
    top = repository(tmp_path / "r", a="one\n")
    root = top / "part"
    root.mkdir()
    (root / "b.txt").write_text("b\n")
    place = Place(root, [writer("scout", write("b.txt", "c\n"))], give("scout"), decide("task_apply"))

    place.run()

    assert place.told[-1] == "Applied. Changed in your workspace: part/b.txt."
    assert (root / "b.txt").read_text() == "c\n"
    assert list(fold("s", place.entries["s"]).changed) == ["b.txt"]


def test_a_long_diff_is_cut_for_the_model_and_whole_in_its_file(tmp_path):
    root = repository(tmp_path / "r")
    place = Place(root, [writer("scout", write("big.txt", "line\n" * 20_000))], give("scout"))

    place.run()

    (said,) = place.told
    path = re.search(r"the whole is in (\S+)\]", said)[1]
    assert len(said) < 25_000
    assert Path(path).read_text().count("+line\n") == 20_000


def test_dropped_changes_are_gone_and_a_deleted_session_leaves_nothing(tmp_path):
    root = repository(tmp_path / "r", a="one\n")
    agents = [writer(name, write("a.txt", name)) for name in ("left", "right")]
    turns = (give("left", "right"), decide("task_discard"), decide("task_apply"))
    place = Place(root, agents, *turns)

    place.run()

    assert place.told[2] == "Dropped. Your workspace is as it was."
    assert "were discarded already" in place.told[3]
    assert (root / "a.txt").read_text() == "one\n"
    assert git(root, "worktree", "list").count("\n") == 2  # its own, and that of the one who was kept
    place.delete("s")
    assert git(root, "worktree", "list").count("\n") == 1
    assert list((root / ".interlock" / "worktrees").glob("s*")) == []


def test_a_resume_clears_the_trees_of_agents_that_ended_and_what_they_changed_stays(tmp_path):
    root = repository(tmp_path / "r", a="one\n")
    agent = writer("scout", write("a.txt", "two\n"))
    place = Place(root, [agent], give("scout"), says("later"), decide("task_apply"))
    place.run()
    assert git(root, "worktree", "list").count("\n") == 2

    async def again():
        async with place.make() as loop:
            return await loop.resume("s", "apply it now")

    result = asyncio.run(again())

    assert result.succeeded
    assert git(root, "worktree", "list").count("\n") == 1
    assert (root / "a.txt").read_text() == "two\n"


def test_without_a_repository_it_is_said_at_once(tmp_path):
    (tmp_path / "plain").mkdir()
    with pytest.raises(
        ConfigError, match=r"agent 'scout' works in a git worktree, but .*plain is not in .*[(]git init[)]"
    ):
        Place(tmp_path / "plain", [writer("scout")])
    with pytest.raises(ConfigError, match="needs workspace="):
        Loop(provider=Scripted([]), agents=[writer("scout")], journal=":memory:")


def test_the_isolation_of_an_agent_is_said_in_its_file_and_checked(tmp_path):
    (tmp_path / "a.md").write_text("---\ndescription: d\nisolation: worktree\n---\np")
    (agent,) = load_agents(tmp_path)

    assert agent.isolation is Isolation.WORKTREE
    with pytest.raises(ConfigError, match="unknown isolation 'moon'; known: none, worktree"):
        Agent("a", "d", "p", isolation="moon")


def test_to_apply_changes_needs_an_approval_where_writing_does(tmp_path):
    root = repository(tmp_path / "r", a="one\n")
    looker = writer("scout", ("read_file", {"path": "a.txt"}))
    place = Place(root, [looker], give("scout"), asks_for(("task_apply", {"handle": "x"})), permission="ask")

    result = place.run()

    assert (result.status, result.reason) == ("suspended", "approval")
    assert "It changed no files." in place.told[0]
