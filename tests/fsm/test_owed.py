"""What a run is asked to prove, through the whole loop: understood, recorded, shown, owed, and derived again."""

import asyncio
import subprocess

import attrs
import pytest
from support.boxes import Ledger, Revision

from fsm import Contract, Loop, RunStatus, events
from fsm.audit import audit
from fsm.graph import GRAPH
from fsm.journal import open_journal
from fsm.providers.scripted import Scripted, asks_for, says
from fsm.tools import workspace_tools
from gates.ready import FilesUnchanged, NoNewTodo
from states.messages import UserMessage
from states.records import Baseline, Evidence, Finding, Understood


def story(*turns, task="go", graph=GRAPH, workspace=None, tools=None, contract=None):
    """One run. The provider, the result, the entries, and the events."""

    async def run():
        provider, shown = Scripted(turns), []
        journal = open_journal(":memory:")
        made = Ledger().tools() if tools is None else tools
        loop = Loop(
            provider=provider,
            tools=made,
            journal=journal,
            workspace=workspace,
            contract=contract or Contract(),
            graph=graph,
        )
        result = await loop.run(task, session="s", on_event=shown.append)
        entries = await journal.read("s")
        assert audit(graph, entries, "s") == []
        await loop.close()
        return provider, result, entries, shown

    return asyncio.run(run())


def records(entries, kind):
    return [entry.record for entry in entries if isinstance(entry.record, kind)]


def test_a_request_to_run_the_tests_is_owed_like_a_declared_one():
    provider, result, entries, shown = story(
        says("Done."),
        asks_for(("bash", {"command": "pytest -q"})),
        says("Now it is done."),
        task="Make the failing test pass",
        workspace=Revision(),
    )

    assert result.status is RunStatus.SUCCEEDED
    assert records(entries, Understood) == [Understood(("test",), ("Make the failing test pass",))]
    (told,) = [event for event in shown if isinstance(event, events.Understanding)]
    assert (told.kinds, told.not_owed) == (("test",), "")
    assert shown.index(told) < next(i for i, event in enumerate(shown) if isinstance(event, events.TurnStart))
    assert provider.requests[1].require_tool == "bash"
    (proof,) = records(entries, Evidence)
    assert proof.kinds == ("test",)


def test_what_was_asked_for_and_never_shown_fails_the_run():
    _, result, _, _ = story(
        *(says(f"Done {number}.") for number in range(9)), task="run the tests", workspace=Revision()
    )

    assert result.status is RunStatus.FAILED
    assert result.reason == "verification_failed"


@pytest.mark.parametrize(
    ("options", "why"),
    [({}, "there is no workspace"), ({"workspace": Revision(), "tools": []}, "there is no bash tool")],
)
def test_what_cannot_be_met_is_told_and_does_not_stop_the_run(options, why):
    _, result, entries, _ = story(says("Done."), task="run the tests", **options)

    assert result.status is RunStatus.SUCCEEDED
    (understood,) = records(entries, Understood)
    assert why in understood.not_owed


def test_a_forged_understanding_is_found_by_the_audit():
    async def run():
        journal = open_journal(":memory:")
        async with Loop(provider=Scripted([says("Done.")]), journal=journal, workspace=Revision()) as loop:
            await loop.run("run the tests", session="s")
            return await journal.read("s")

    entries = asyncio.run(run())
    place = next(n for n, entry in enumerate(entries) if isinstance(entry.record, Understood))
    forged = [*entries]
    forged[place] = attrs.evolve(entries[place], record=Understood(("lint",), ("run the tests",)))

    assert any("something was understood" in found for found in audit(GRAPH, forged, "s"))


def test_a_projects_own_command_proves_its_kind():
    contract = Contract(checks=("test",), proofs={"test": ["./run_tests.sh"]})
    provider, result, _, _ = story(
        says("Done."),
        asks_for(("bash", {"command": "./run_tests.sh  --all"})),
        says("Now."),
        workspace=Revision(),
        contract=contract,
    )

    assert result.status is RunStatus.SUCCEEDED
    assert "./run_tests.sh" in provider.requests[1].messages[-1].text


def test_a_masked_check_is_told_why_it_does_not_count():
    provider, result, _, _ = story(
        asks_for(("bash", {"command": "pytest | tail"})),
        says("Done."),
        asks_for(("bash", {"command": "pytest"})),
        says("Now."),
        workspace=Revision(),
        contract=Contract(checks=("test",)),
    )

    assert result.status is RunStatus.SUCCEEDED
    assert "a pipe without `set -o pipefail` hides its exit status" in provider.requests[2].messages[-1].text


def test_spaces_do_not_matter_in_an_exact_command_and_quotes_do():
    def run(command):
        return story(
            asks_for(("bash", {"command": command})),
            *(says(f"Done {number}.") for number in range(9)),
            workspace=Revision(),
            contract=Contract(commands=("./ci.sh   --all",)),
        )[1].status

    assert run("./ci.sh --all ") is RunStatus.SUCCEEDED
    assert run("./ci.sh '--all'") is RunStatus.FAILED
    assert run("./ci.sh --all || true") is RunStatus.FAILED


def test_the_same_calls_over_and_over_end_the_run_and_the_audit_agrees():
    _, result, _, _ = story(*(asks_for(("look", {"key": "a"})) for _ in range(20)))

    assert (result.status, result.reason) == (RunStatus.FAILED, "stuck")


def test_hints_reach_the_model_with_its_next_turn():
    provider, _, _, _ = story(*(asks_for(("explode", {})) for _ in range(3)), says("I give up."))

    assert isinstance(provider.requests[3].messages[-1], UserMessage)
    assert "explode (3 times)" in provider.requests[3].messages[-1].text


def test_gates_of_ones_own_remember_how_things_were_before_the_run(tmp_path):
    root = tmp_path / "work"
    root.mkdir()
    (root / "kept.txt").write_text("as it is")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    graph = GRAPH.with_gate(FilesUnchanged("kept.txt"), "verify").with_gate(
        NoNewTodo(), "verify", before="checks_passed"
    )
    provider, result, entries, _ = story(
        asks_for(("write_file", {"path": "kept.txt", "content": "changed"})),
        says("Done."),
        asks_for(("write_file", {"path": "kept.txt", "content": "as it is"})),
        says("Restored."),
        graph=graph,
        workspace=root,
        tools=workspace_tools(root),
    )

    assert result.status is RunStatus.SUCCEEDED
    assert [record.gate for record in records(entries, Baseline)] == ["no_new_todo", "files_unchanged"]
    assert [(found.gate, found.holds) for found in records(entries, Finding)] == [
        ("no_new_todo", True),
        ("files_unchanged", False),
        ("no_new_todo", True),
        ("files_unchanged", True),
    ]
    assert "these files must stay as they were: kept.txt" in provider.requests[2].messages[-1].text
    assert records(entries, Finding)[-1].revision
