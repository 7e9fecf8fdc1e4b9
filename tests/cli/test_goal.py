"""Goals, as the command has them."""

import json

from support.chat_server import ChatServer, text_turn


def test_a_goal_is_verified_shown_and_paused(interlock):
    said = [f"It is done {n}." for n in range(4)]
    looks = [text_turn("No.\nVERDICT: FAIL")]
    turns = [text_turn(said[0]), *looks, *(text_turn(words) for words in said[1:])]
    with ChatServer(turns) as server:
        rests = interlock.run(server, "--goal", "calc.py adds")
    assert rests.returncode == 3
    assert "the goal is not reached, after 3 corrections" in rests.stderr
    assert "<goal>\ncalc.py adds\n</goal>" in server.requests[1]["messages"][-1]["content"]

    assert interlock("goal", "s").stdout == "blocked: calc.py adds\n"
    assert interlock("goal", "s", "--pause").stdout == "paused: calc.py adds\n"
    assert json.loads(interlock("show", "s", "--json").stdout)["goal"] == {"text": "calc.py adds", "status": "paused"}
    assert "the goal: calc.py adds" in interlock("show", "s").stdout
    assert interlock("goal", "s", "--clear").stdout == "session s has no goal\n"
    assert interlock("audit", "s").returncode == 0
