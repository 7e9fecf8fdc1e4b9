"""Agents of the command: files in the workspace."""

import json

from support.chat_server import ChatServer, calls_turn, text_turn

READ = calls_turn([("read_file", {"path": "calc.py"})])
TASK = calls_turn([("task", {"agent": "scout", "prompt": "look at calc.py"})])


def script(request, number):
    """Both models are behind one server; the agent is the one whose prompt says so."""
    said = sum(message["role"] == "assistant" for message in request["messages"])
    if "You look." in request["messages"][0]["content"]:
        assert request["model"] == "small"
        return [READ, text_turn("It subtracts.")][said]
    return [TASK, text_turn("Done: it subtracts.")][said]


def test_an_agent_in_a_file_works_for_a_run_and_both_sessions_audit_clean(interlock, workspace):
    folder = workspace / ".interlock" / "agents"
    folder.mkdir(parents=True)
    (folder / "scout.md").write_text("---\ndescription: Looks.\ntools: read_file\nmodel: small\n---\nYou look.\n")
    with ChatServer(script) as server:
        done = interlock.run(server)

    assert (done.returncode, done.stdout) == (0, "Done: it subtracts.\n")
    listed = {row["session"]: row for row in json.loads(interlock("sessions", "--json").stdout)}
    child = next(name for name in listed if name != "s")
    assert (listed[child]["agent"], listed[child]["parent"].split(":")[0]) == ("scout", "s")
    assert f"agent scout begins: session {child}" in interlock("show", "s").stdout
    assert "agent scout, called by s:" in interlock("show", child).stdout
    assert [interlock("audit", name).returncode for name in ("s", child)] == [0, 0]


def test_a_file_that_describes_no_agent_stops_the_command_with_the_reason(interlock, workspace):
    folder = workspace / ".interlock" / "agents"
    folder.mkdir(parents=True)
    (folder / "scout.md").write_text("You look.\n")
    with ChatServer([]) as server:
        done = interlock.run(server)

    assert done.returncode == 2
    assert "scout.md: it must begin with front matter" in done.stderr


def test_an_independent_verifier_can_be_asked_for_on_the_command_line(interlock):
    """Both are behind one server; the verifier is the one whose prompt says so."""

    def script(request, number):
        if "You verify work" in request["messages"][0]["content"]:
            return text_turn("I read it.\nVERDICT: PASS")
        return text_turn("It is fine as it is.")

    with ChatServer(script) as server:
        done = interlock.run(server, "--verify", "always")
        wrong = interlock.run(server, "--verify", "sometimes")

    assert (done.returncode, done.stdout) == (0, "It is fine as it is.\n")
    assert "the verifier says PASS" in interlock("show", "s").stdout
    assert wrong.returncode == 2
    assert "unknown verify 'sometimes'; known: auto, always, never" in wrong.stderr
