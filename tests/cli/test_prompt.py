"""The layers of the system prompt, from files and flags to what the server is asked."""

import pytest
from support.chat_server import ChatServer, calls_turn, text_turn

from fsm.config import settings
from states.errors import ConfigError


def system(server, number=-1):
    return server.requests[number]["messages"][0]["content"]


def said(server, number=-1):
    return server.requests[number]["messages"][-1]["content"]


@pytest.fixture
def project(workspace):
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    (workspace / "notes.md").write_text("- the parser is slow\n")
    return workspace


def test_instructions_of_a_strange_folder_are_not_read_and_the_way_out_is_said(interlock, project):
    with ChatServer([text_turn("Done.")]) as server:
        done = interlock.run(server)

    assert done.returncode == 0
    assert "Use tabs." not in system(server)
    assert "AGENTS.md: not read: the folder is not trusted" in done.stderr
    assert "--instructions trust" in done.stderr
    assert "not read: the folder is not trusted" in interlock("show", "s").stdout


def test_another_base_leaves_the_other_layers_and_all_of_it_is_shown_with_digests(interlock, project):
    (project / "base.txt").write_text("Speak like a pirate.")
    (project / "last.txt").write_text("Be kind.")
    words = ("--system", "base.txt", "--style", "concise", "--memory", "notes.md", "--append-system", "last.txt")
    with ChatServer([text_turn("Arr.")]) as server:
        done = interlock.run(server, *words, "--instructions", "trust", "--defer", "bash*,glob")

    assert done.returncode == 0
    parts = ("Speak like a pirate.", "few words", "Use tabs.", "the parser is slow", "# Environment", "Be kind.")
    places = [system(server).index(part) for part in parts]
    assert places == sorted(places)
    tools = {tool["function"]["name"]: tool["function"] for tool in server.requests[0]["tools"]}
    assert not {"bash", "bash_output", "bash_stop", "glob"} & tools.keys()
    assert "- glob: " in tools["tool_search"]["description"]
    shown = interlock("show", "s").stdout
    for line in (
        "base: base.txt, 20 bytes, sha256 ",
        "style: given, ",
        f"instructions: {project.resolve()}/AGENTS.md, 10 bytes, sha256 ",
        f"memory: {project}/notes.md, 21 bytes, sha256 ",
        "environment: built-in, ",
        "append: last.txt, 8 bytes, sha256 ",
    ):
        assert f"    {line}" in shown
    page = interlock("report", "s", "-o", str(project / "s.html"))
    assert page.returncode == 0
    assert "append: last.txt, 8 bytes, sha256 " in (project / "s.html").read_text()


def test_the_file_may_say_it_and_a_memory_of_a_strange_folder_is_refused(interlock, project):
    (project / "interlock.toml").write_text(
        'style = "Write verse."\nmemory = "notes.md"\nappend-system = "notes.md"\nruntime-context = "off"\n'
    )
    with ChatServer(lambda *_: text_turn("Done.")) as server:
        refused = interlock.run(server)
        trusted = interlock.run(server, "--instructions", "trust")

    assert refused.returncode == 2
    assert "has a memory, whose words the model would read: notes.md" in refused.stderr
    assert "--instructions off" in refused.stderr
    assert trusted.returncode == 0
    assert "# Memory" in system(server)
    assert settings({"workspace": str(project), "instructions": "off"}, {}).memory is None
    assert "Write verse." in system(server)
    assert said(server) == "Repair what is broken."


def test_date_and_place_stand_before_the_input_and_what_is_told_goes_into_the_next_run(interlock, project):
    with ChatServer(lambda *_: text_turn("Done.")) as server:
        interlock.run(server, "--style", "Write verse.", "--instructions", "trust", "--memory", "notes.md")
        done = interlock("resume", "s", "and more")

    assert done.returncode == 0
    assert said(server, 0).startswith("<runtime-context>\n")
    assert f"Directory: {project.resolve()}\nGit: no repository\n" in said(server, 0)
    assert said(server, 0).endswith("</runtime-context>\n\nRepair what is broken.")
    assert said(server, 1) == "and more"
    assert system(server, 0) == system(server, 1)
    assert "Write verse." in system(server)
    assert "Date" not in system(server)


def test_what_is_wrong_is_named(interlock, workspace):
    done = interlock("run", "x", "--model", "m", "--base-url", "http://127.0.0.1:9", "--append-system", "no.txt")

    assert done.returncode == 2
    assert "append: 'no.txt' cannot be read" in done.stderr
    with pytest.raises(ConfigError, match="unknown runtime-context 'maybe'; known: on, off"):
        settings({"workspace": str(workspace), "runtime-context": "maybe"}, {})


def test_a_layer_that_is_named_while_a_run_rests_is_refused(interlock, workspace):
    with ChatServer([calls_turn([("bash", {"command": "touch x"})])]) as server:
        interlock.run(server)
        done = interlock("resume", "s", "--style", "concise")

    assert done.returncode == 2
    assert "--style: the run of session 's' goes on with what it was started with" in done.stderr
