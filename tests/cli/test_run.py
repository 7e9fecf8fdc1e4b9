"""interlock run, from the task to the exit status."""

import json

import pytest
from support.chat_server import ChatServer, calls_turn, error, text_turn

TEST = "python3 -m unittest -q"
KEY = "sk-scripted-0123456789abcdef"
READ = calls_turn([("read_file", {"path": "calc.py"})], "Let me look.")
EDIT = calls_turn([("edit_file", {"path": "calc.py", "old_string": "a - b", "new_string": "a + b"})])
CHECK = calls_turn([("bash", {"command": TEST})])


def test_a_task_is_done_and_the_answer_is_all_of_standard_output(interlock, workspace):
    with ChatServer([READ, EDIT, CHECK, text_turn("The test passes now.")]) as server:
        done = interlock(
            *("run", "Make the failing test pass. Run the tests.", "--provider", "openai", "--model", "m"),
            *("--base-url", server.url, "--workspace", str(workspace), "--permission", "full"),
            cwd="/",
        )

    assert (done.returncode, done.stdout) == (0, "The test passes now.\n")
    assert "return a + b" in (workspace / "calc.py").read_text()
    assert len(server.requests) == 4
    assert done.stderr.startswith("succeeded: session ")
    assert done.stderr.count("\n") == 1


def test_saying_done_is_not_enough_where_a_test_is_owed(interlock):
    with ChatServer([EDIT, text_turn("Done."), CHECK, text_turn("Tested.")]) as server:
        done = interlock.run(server, "--permission", "full", "--require", "test")

    assert (done.returncode, done.stdout) == (0, "Tested.\n")
    assert "You are not done" in server.requests[2]["messages"][-1]["content"]
    shown = json.loads(interlock("show", "s", "--json").stdout)
    assert shown["contract"] == {"checks": ["test"], "commands": []}
    assert len(shown["receipt"]["evidence"]) == 1


def test_a_check_that_stays_undone_fails_the_run(interlock):
    with ChatServer(lambda body, number: text_turn(f"Done {number}.")) as server:
        done = interlock.run(server, "--permission", "full", "--check", "true")

    assert (done.returncode, done.stdout) == (1, "")
    assert "failed (verification_failed): session s" in done.stderr


def test_terminal_escapes_of_the_model_are_made_visible(interlock):
    with ChatServer([text_turn("\x1b]0;owned\x07 fine\u202e", size=100)]) as server:
        done = interlock.run(server)

    assert done.stdout == "\\x1b]0;owned\\x07 fine\\u202e\n"


def test_events_are_lines_and_the_last_is_the_only_run_end(interlock):
    with ChatServer([READ, text_turn("Seen \x1b[31m")]) as server:
        done = interlock.run(server, "--events", "ndjson")

    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [event["type"] for event in events].count("run_end") == 1
    assert events[0] | {"type": "run_start", "session": "s", "run": 1} == events[0]
    assert events[-1]["type"] == "run_end"
    assert events[-1]["result"]["status"] == "succeeded"
    assert all(event["durable"] == (event["seq"] is not None) for event in events)
    durable = [event["seq"] for event in events[:-1] if event["durable"]]
    assert durable == sorted(set(durable))
    (ended,) = [event for event in events if event["type"] == "tool_end"]
    assert (ended["status"], "return a - b" in ended["output"]) == ("ok", True)
    assert {event["type"] for event in events if not event["durable"]} == {"turn_start", "delta"}


def test_nobody_reading_the_events_lets_the_run_rest(interlock):
    with ChatServer(lambda body, number: READ) as server:
        process = interlock.start(*interlock.line(server, "go", "--events", "ndjson"))
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        status = process.wait(30)

    assert status == 3
    assert "suspended" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "status", "reason", "way_on"),
    [
        ({"status": 400, "message": "no such thing"}, 1, "failed (api_error): session s", "another one begins with: "),
        ({"status": 503, "message": "busy"}, 3, "suspended (provider): session s", "go on: "),
    ],
)
def test_trouble_of_the_server_is_told_apart(interlock, words, status, reason, way_on):
    with ChatServer(lambda body, number: error(**words)) as server:
        done = interlock.run(server, "--patience", "0")

    assert (done.returncode, done.stdout) == (status, "")
    assert reason in done.stderr
    assert words["message"] in done.stderr
    assert f"{way_on}interlock resume s" in done.stderr


def test_a_spent_budget_rests_and_a_larger_one_goes_on(interlock):
    with ChatServer([READ, READ, text_turn("Read.")]) as server:
        rested = interlock.run(server, "--max-turns", "1")
        again = interlock("resume", "s")
        done = interlock("resume", "s", "--max-turns", "5")

    assert rested.returncode == again.returncode == 3
    assert "suspended (budget)" in rested.stderr
    assert (done.returncode, done.stdout) == (0, "Read.\n")


def test_a_key_that_the_server_and_a_tool_echo_is_nowhere(interlock, workspace, everything):
    def echo(body, number):
        if number == 0:
            return calls_turn([("bash", {"command": f"echo {KEY}; env"})], f"Your key is {KEY}")
        return text_turn(f"It is {KEY}, as I said.", size=7)

    with ChatServer(echo) as server:
        done = interlock.run(server, "--permission", "full", "--events", "ndjson", env={"OPENAI_API_KEY": KEY})

    assert done.returncode == 0
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in done.stdout + done.stderr
    assert KEY.encode() not in everything()
    assert b"[redacted]" in everything()


def test_recorded_turns_are_played_again_without_a_server(interlock, workspace):
    tape = str(workspace.parent / "tape.ndjson")
    with ChatServer([READ, text_turn("It subtracts.")]) as server:
        first = interlock.run(server, "--record", tape)
    played = interlock("run", "again", "--provider", "replay", "--cassette", tape, "--session", "t")

    assert first.returncode == played.returncode == 0
    assert played.stdout == first.stdout == "It subtracts.\n"


def test_the_system_prompt_can_be_replaced(interlock, workspace):
    (workspace / "prompt.txt").write_text("Speak like a pirate.")
    with ChatServer([text_turn("Arr.")]) as server:
        done = interlock.run(server, "--system", "prompt.txt")

    assert done.returncode == 0
    system = server.requests[0]["messages"][0]
    assert system["role"] == "system"
    assert system["content"].startswith("Speak like a pirate.\n\n# Environment\n\nWorking directory: ")


def test_the_workspace_can_say_how_it_is_worked_on(interlock, workspace):
    with ChatServer([EDIT, CHECK, text_turn("Done.")]) as server:
        (workspace / "interlock.toml").write_text(
            f'model = "m"\nbase-url = "{server.url}"\npermission = "full"\nrequire = ["test"]\n'
        )
        done = interlock("run", "mend it", "--session", "s")

    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert "interlock.toml says permission = full" in done.stderr
    assert json.loads(interlock("show", "s", "--json").stdout)["contract"]["checks"] == ["test"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "x"], "--model is missing"),
        (["run", "x", "--model", "m"], "OPENAI_API_KEY is not set"),
        (["run", "x", "--model", "m", "--api-key-env", "MY_KEY"], "MY_KEY is not set"),
        (["run", "x", "--model", "m", "--provider", "anthropic"], "ANTHROPIC_API_KEY is not set: api.anthropic.com"),
        (["run", "x", "--model", "m", "--base-url", "ftp://here"], "'ftp://here'"),
        (["run", " ", "--model", "m"], "the task is empty"),
        (
            ["run", "x", "--provider", "oracle"],
            "unknown provider 'oracle'; known: openai, responses, anthropic, replay",
        ),
        (["run", "x", "--permission", "root"], "unknown permission 'root'; known: full, ask, plan"),
        (["run", "x", "--provider", "replay"], "--cassette is missing"),
        (["run", "x", "--provider", "replay", "--cassette", "none.ndjson"], "none.ndjson"),
        (["run", "x", "--workspace", "nowhere"], "'nowhere' is no folder"),
        (["run", "x", "--model", "m", "--base-url", "http://127.0.0.1:9", "--require", "luck"], "unknown check 'luck'"),
        (["run", "x", "--model", "m", "--base-url", "http://127.0.0.1:9", "--max-turns", "0"], "max_turns must be"),
        (["run", "x", "--model", "m", "--base-url", "http://127.0.0.1:9", "--system", "no.txt"], "'no.txt'"),
        (["run", "x", "--model", "m", "--base-url", "http://127.0.0.1:9", "--inactivity", "0"], "--inactivity: 0 "),
        (["run", "x", "--turns", "3"], "No such option"),
        (["run"], "Missing argument 'TASK'"),
    ],
)
def test_what_cannot_work_is_said_before_anything_starts(words, said, workspace, monkeypatch, capsys):
    from fsm.cli import call

    monkeypatch.chdir(workspace)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    assert call(words) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""
    assert not (workspace / ".interlock").exists()


def test_a_session_is_not_begun_twice(interlock):
    with ChatServer([text_turn("one")]) as server:
        first = interlock.run(server)
        second = interlock.run(server)

    assert (first.returncode, second.returncode) == (0, 2)
    assert "there is a session 's' already" in second.stderr


def test_only_the_named_tools_are_sent_now_and_after_a_resume(interlock):
    turns = [calls_turn([("bash", {"command": "ls"})]), text_turn("ok"), text_turn("again")]
    with ChatServer(turns) as server:
        assert interlock.run(server, "--tools", "read_file,g*").returncode == 0
        assert interlock("resume", "s", "more").returncode == 0
    sent = [[tool["function"]["name"] for tool in request["tools"]] for request in server.requests]

    assert sent == [["read_file", "glob", "grep"]] * 3
    answer = server.requests[1]["messages"][-1]["content"]
    assert "'bash' is not offered in this run" in answer


def test_a_tool_that_is_not_there_is_named(interlock):
    done = interlock("run", "task", "--model", "m", "--base-url", "http://127.0.0.1:9", "--tools", "read,bash")

    assert done.returncode == 2
    assert "no tool fits 'read'" in done.stderr


SCHEMA = {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}


def test_a_schema_makes_the_result_json_on_standard_output(interlock, workspace):
    (workspace / "schema.json").write_text(json.dumps(SCHEMA))
    turns = [text_turn('{"lines": 2}'), calls_turn([("structured_output", {"lines": 2})])]
    with ChatServer(turns) as server:
        done = interlock.run(server, "--schema", "schema.json")

    assert (done.returncode, done.stdout) == (0, '{"lines":2}\n')
    assert server.requests[1]["tool_choice"] == {"type": "function", "function": {"name": "structured_output"}}
    shown = json.loads(interlock("show", "s", "--json").stdout)
    assert (shown["output"], shown["output_schema"]) == ({"lines": 2}, SCHEMA)
    assert "the output that call_2_0 handed in" in interlock("show", "s").stdout
    assert interlock("audit", "s").returncode == 0


def test_the_run_end_carries_the_output(interlock, workspace):
    (workspace / "schema.json").write_text(json.dumps(SCHEMA))
    with ChatServer([calls_turn([("structured_output", {"lines": 2})])]) as server:
        done = interlock.run(server, "--schema", "schema.json", "--events", "ndjson")

    assert json.loads(done.stdout.splitlines()[-1])["result"]["output"] == {"lines": 2}


@pytest.mark.parametrize(
    ("text", "said"), [(None, "No such file"), ("{", "no JSON"), ('{"type": "array"}', "its root must say")]
)
def test_a_schema_that_will_not_do_is_a_usage_error(interlock, workspace, text, said):
    if text is not None:
        (workspace / "schema.json").write_text(text)
    done = interlock("run", "go", "--model", "m", "--base-url", "http://127.0.0.1:9", "--schema", "schema.json")

    assert done.returncode == 2
    assert said in done.stderr
    assert "--schema" in done.stderr
