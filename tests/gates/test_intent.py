"""Which last words announce work that nobody does, and which only sound like it."""

import pytest
from support.past import Past

from gates.intent_carried_out import RETRIES, announces, intent_carried_out, shows_work
from states.fold import fold
from states.history import History
from states.names import State
from states.records import RunStarted, Status, ToolIntent, UserInput
from states.verdicts import Pass, Retry

ANNOUNCES = """
    Let me check the file.
    Let me start with the parser:
    let me look at the tests first.
    Let me now fix this.
    Let's run the tests.
    I'll create the file now.
    I'll now update the config.
    I will implement this in parser.py.
    I will first read the code.
    The bug is in parse(). I'll fix it.
    The cause is clear. Now I will write the patch.
    I'm going to add a test.
    I need to look at the config.
    Next, I'll edit main.py.
    Here is what I will do:
    Now updating the file...
    Working on it…
    Please wait.
    One moment, please.
    The plan:\n1. First read the code\n2. Then update the parser
    3. Finally, I will run the tests.
    让我先看看这个文件。
    让我检查一下配置。
    我来修复这个问题。
    我现在创建文件。
    接下来我将修改代码。
    下面我会添加测试。
    我先查看一下日志：
    请稍候。
    以下是修改方案：
    **Next steps:**
"""

IS_DONE = """
    Done.
    All tests pass.
    I fixed the parser and added a test.
    Let me know if you want anything else.
    Let me know if I should update the docs as well.
    The fix is in parser.py. Let me know if you want me to add tests.
    If you like, I'll add more tests.
    I'll add more tests if you want.
    I can update the docs too, if needed.
    Once you confirm, I will create the release.
    Would you like me to fix it?
    Shall I update the docs?
    Should I start with the parser?
    I will not change the tests.
    I'll never be able to run this here: there is no network. The change is made.
    First I read the code, then I fixed it.
    1. First, the parser was fixed.\n2. Then tests were added.
    Finally, the tests pass.
    Let me explain. The bug was a missing comma. It is fixed now.
    I'll fix it. It is fixed now: see parser.py.
    The function will create a file when it is called.
    You will need to add a key to the config.
    The server will start on port 80.
    Usage: run `make`.
    To run it, use `make run`.
    已完成。
    所有测试都通过了。
    我已经修复了这个问题。
    如果需要，我可以添加测试。
    需要我再修改吗？
    请告诉我是否需要修改文档。
    如果你同意，我会创建发布。
    我修改了 parser.py，并添加了测试。
"""


def lines(text):
    return [line.strip().replace("\\n", "\n") for line in text.strip().split("\n    ")]


@pytest.mark.parametrize("text", lines(ANNOUNCES))
def test_it_announces(text):
    assert announces(text)


@pytest.mark.parametrize("text", lines(IS_DONE))
def test_it_does_not_announce(text):
    assert not announces(text)


def test_only_the_end_is_looked_at():
    assert not announces("Let me check the file.\n\n" + "It was a missing comma. " * 20)
    assert announces("It was a missing comma. " * 20 + "Let me check the file.")


def test_an_unclosed_block_of_code_announces_nothing_and_what_stands_in_one_neither():
    assert not announces("Like this:\n```python\ndef f():")
    assert not announces("The result:\n```\nLet me check the file.\n```")
    assert announces("```\nx = 1\n```\nLet me check the file.")


BLOCK = "```python\n" + "print('a long line of code')\n" * 3 + "```"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (BLOCK, True),
        (f"Here it is:\n\n{BLOCK}\nThat is all.", True),
        ("```python\nx = 1\n```", False),
        (BLOCK.replace("python", "text"), False),
        (BLOCK.replace("python", "console"), False),
        (BLOCK.removesuffix("```"), False),
        ("`" + "x" * 60 + "`", False),
        ("no code at all", False),
    ],
)
def test_a_long_closed_block_of_code_is_work_that_is_shown(text, shown):
    assert shows_work(text) is shown


# --- the gate ---------------------------------------------------------------------------------------------------


def begun(*tools):
    past = Past()
    past.entries.clear()
    past.history = History("s")
    return past.add(RunStarted(1, "g", "t", "m", tool_names=tools), UserInput("fix it"))


def test_an_announcement_goes_back_to_the_model_twice_and_then_passes():
    past = begun("bash")
    for number in range(RETRIES):
        past.submitted(f"{number}. Let me check the file.").move()
        assert past.state is State.PROVIDER_TURN
        assert "you called no tool" in past.history.messages[-1].text
    past.submitted("Once more. Let me check the file.").move()

    assert past.state is State.VERIFY
    assert past.history.retries["intent_carried_out"] == RETRIES


def test_a_crash_does_not_refill_the_corrections():
    past = begun("bash")
    for number in range(RETRIES):
        past.submitted(f"{number}. Let me check the file.").move()
        past.history = fold("s", past.entries)
    past.submitted("Once more. Let me check the file.").move()

    assert past.state is State.VERIFY


def test_a_run_without_tools_can_only_talk():
    assert begun().submitted("Let me check the file.").move().state is State.VERIFY
    assert begun().submitted(BLOCK).move().state is State.VERIFY


def test_code_is_work_shown_only_as_long_as_nothing_was_done():
    past = begun("bash").submitted(BLOCK).move()
    assert past.state is State.PROVIDER_TURN

    past = begun("bash").tool_turn("bash").submitted(BLOCK).move()
    assert past.state is State.VERIFY

    past = begun("bash").tool_turn("bash", status=Status.ERROR).submitted(BLOCK).move()
    assert past.state is State.PROVIDER_TURN


def test_reading_is_not_doing_and_a_new_input_asks_anew():
    past = begun("read_file").calls("read_file").move()
    (state,) = past.history.open_calls()
    past.add(ToolIntent(state.call.id, "read_file", "{}", 0, past.history.epoch, read_only=True))
    past.result(state.call.id)
    assert isinstance(intent_carried_out.judge(past.history), Pass)
    assert past.history.effects_since_input == 0

    past = begun("bash").tool_turn("bash")
    assert past.history.effects_since_input == 1
    past.add(UserInput("and now?"))
    assert past.history.effects_since_input == 0
    assert isinstance(intent_carried_out.judge(past.submitted(BLOCK).history), Retry)
