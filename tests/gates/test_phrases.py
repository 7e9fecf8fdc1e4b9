"""What a request asks to be proven, in English and Chinese: each case as a person would write it."""

import pytest
from support.past import Past

from fsm.driver import gates_at
from fsm.graph import GRAPH
from gates.phrases import understand, understanding
from states.contract import Contract, Permission
from states.names import State
from states.records import RunStarted, Understood, UserInput

ASKS = {
    "test": """
        Run the tests
        run the tests.
        Please run the tests
        Please also run all tests before you finish.
        run all of the unit tests
        Run the full test suite
        re-run the tests
        rerun the test suite when you are done
        execute the tests
        Can you run the tests?
        Could you please run the integration tests?
        I want you to run the tests
        you must run the tests
        You need to run the tests before finishing
        Remember to run the tests
        Make sure to run the tests
        don't forget to run the tests
        never fail to run the tests
        Do not skip the tests
        finish by running the tests
        Fix the bug, then run the tests
        Fix the bug and run the tests
        Fix the bug. Run the tests.
        Build a parser and run the tests
        Write a linter and run the tests
        When you are done, run the tests
        After that, run the tests
        once finished run the tests
        Do not commit, but run the tests
        Don't touch main.py. Run the tests.
        Change nothing else; run the tests
        run pytest
        run `pytest -q`
        Run `npm test` and report
        run npm test
        run cargo test
        run make test
        Verify with pytest
        use `make test` to verify
        Make the failing test pass
        make the failing test pass
        Make all the tests pass
        make test_a.py tests pass
        get the tests to pass
        get the tests passing
        Fix it so that the tests pass
        make sure all tests pass
        Make sure that the tests pass.
        ensure the test suite passes
        Ensure tests are green
        verify that the tests pass
        keep the tests green
        All tests must pass
        the tests should pass
        The tests have to pass at the end
        work until the tests pass
        the tests must be run
        make sure no tests fail
        - fix the parser
        run the app and the tests
        we must run the tests
        let's run the tests
        运行测试
        请运行测试
        请运行所有测试
        跑一下测试
        跑一遍单元测试
        重新运行测试
        执行测试用例
        修复这个错误并运行测试
        修复错误，然后跑测试
        把测试跑一遍
        确保所有测试通过
        保证测试全部通过
        让失败的测试通过
        测试必须通过
        别忘了运行测试
        不要忘记跑测试
        不要修改代码，只运行测试
        构建一个解析器并运行测试
        运行 pytest
        请 run 测试
    """,
    "lint": """
        run the linter
        Run lint
        ensure lint passes
        lint the code
        Please lint everything
        make sure there are no lint errors
        don't run the tests, but run the linter
        run ruff
        run eslint
        跑一下 lint
        运行代码检查
        不用跑测试，但要跑 lint
        确保 lint 通过
    """,
    "type-check": """
        run the type checker
        run type checks
        run a type check
        type-check the code
        make sure mypy passes
        run mypy
        运行类型检查
        跑一下 mypy
    """,
    "build": """
        run the build
        make sure the build passes
        build the project
        Compile the project
        keep the build green
        编译项目
        请重新构建项目
        确保构建成功
    """,
    "test lint": """
        Run the tests and the linter
        run the tests, then run the linter
        run the linter and all tests
        run `pytest -q` and `ruff check .`
        make sure tests and lint pass
        运行测试和 lint
        先跑测试，再跑 lint
    """,
    "lint type-check": """
        lint and type-check the project
        run lint and mypy
        运行代码检查和类型检查
    """,
    "test lint type-check": "Run the tests, the linter and the type checker",
    "test build": "run the build and the tests",
}

ASKS_NOTHING = """
    Build a parser
    Add a build step to the docs
    Write tests for the parser
    Add a test
    Fix the failing tests
    The tests are failing, fix them
    The tests are failing
    fix the lint errors
    I ran the tests and they failed
    When I run the tests I get an error
    Running the tests gives an error
    How do I run the tests?
    How to run the tests
    Explain how to run the tests
    which command runs the tests?
    should I run the tests?
    Did you run the tests?
    Write a script that runs the tests
    write a script to run the tests
    Add a CI job to run the tests
    add a workflow which installs everything and run the tests
    Add a Makefile target to run the tests
    Document how users run the tests
    so that users can run the tests
    run the test server
    start the server and test it manually
    run the program
    Add a button labelled "Run tests"
    Explain what "run the tests" means
    rename run_tests to run_all
    If you change the parser, run the tests
    run the tests if needed
    run the tests only if you changed something
    the tests pass already
    the tests pass on my machine
    Don't use semicolons
    test driven development is nice
    delete the build folder
    The build is broken
    lint is annoying
    Run the migration and build the image
    what happens when you run the tests?
    修复失败的测试
    编写测试
    添加一个测试
    如何运行测试
    怎么跑测试？
    当我运行测试时报错
    我运行测试的时候出错了
    测试失败了
    构建一个解析器
    解释一下“运行测试”的意思
    如果修改了解析器，运行测试
    运行服务器
"""

WAIVES = {
    "test": """
        do not run the tests
        Don't run the tests
        don't run any tests
        Please do not run the tests.
        Never run the tests
        you must not run the tests
        Fix it without running the tests
        no need to run the tests
        there is no need to run the tests
        you don't have to run the tests
        Skip the tests
        avoid running the tests
        instead of running the tests, read the code
        Do not build or run the tests
        don't bother to run the tests
        you need not run the tests
        tests do not have to pass
        不要运行测试
        请不要运行测试
        别跑测试
        不用运行测试
        无需运行测试
        不必跑测试
        禁止运行测试
        跳过测试
        不要再运行测试
    """,
    "lint": """
        do not run the linter
        don't lint the code
        不要跑 lint
    """,
    "test lint": """
        don't run the tests or the linter
        不要运行测试和 lint
    """,
}


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


ASKED = [(kinds, line) for kinds, text in ASKS.items() for line in lines(text) if not line.startswith("-")]
WAIVED = [(kinds, line) for kinds, text in WAIVES.items() for line in lines(text)]


@pytest.mark.parametrize(("kinds", "said"), ASKED, ids=[said for _, said in ASKED])
def test_it_asks_for(kinds, said):
    request = understand(said)

    assert request.kinds == tuple(kinds.split())
    assert request.phrases


@pytest.mark.parametrize("said", lines(ASKS_NOTHING))
def test_it_asks_for_nothing(said):
    assert understand(said).kinds == ()


@pytest.mark.parametrize(("kinds", "said"), WAIVED, ids=[said for _, said in WAIVED])
def test_it_waives(kinds, said):
    request = understand(said)

    assert request.kinds == ()
    assert request.waived == tuple(kinds.split())


def test_at_least_as_many_cases_as_promised():
    assert len(ASKED) + len(lines(ASKS_NOTHING)) + len(WAIVED) > 150


@pytest.mark.parametrize(
    ("said", "kinds", "waived"),
    [
        ("don't run the linter, but run the tests", ("test",), ("lint",)),
        ("Run the tests. Do not run the linter.", ("test",), ("lint",)),
        ("run the tests... no, do not run the tests", (), ("test",)),
        ("Do not run the tests yet. When you are done, run the tests.", ("test",), ()),
        ("不要跑 lint，但要运行测试", ("test",), ("lint",)),
        ("Fix the bug.\n\n- run the tests\n- don't run the linter", ("test",), ("lint",)),
        ("Please fix this:\n```\nrun the tests\n```", (), ()),
        ("> run the tests\nFix what he says", (), ()),
    ],
)
def test_negation_is_bound_to_its_verb_and_the_last_word_counts(said, kinds, waived):
    request = understand(said)

    assert (request.kinds, request.waived) == (kinds, waived)


def test_what_was_understood_is_told_in_the_words_that_said_so():
    request = understand("Fix the bug. Then make the failing test pass and run the linter, please.")

    assert request.phrases == ("make the failing test pass", "run the linter")


@pytest.mark.parametrize(
    "text",
    ["", " ", "x" * 100_000, "run the " * 5000, "全部的" * 5000 + "运行", "`" * 999, "not " * 3000 + "run the tests"],
)
def test_any_text_is_read_in_reasonable_time(text):
    assert isinstance(understand(text).kinds, tuple)


# --- what becomes of it -----------------------------------------------------------------------------------------


def begun(text, **started):
    options = {"tool_names": ("bash",), "revisions": True} | started
    past = Past()
    past.entries.clear()
    past.history = type(past.history)("s")
    past.add(RunStarted(1, "g", "t", "m", **options), UserInput(text))
    return past


def test_what_is_understood_is_owed_beside_what_is_declared():
    past = begun("run the linter", contract=Contract(checks=("test",)))
    past.add(understanding(past.history, "run the linter"))

    assert past.history.owed == ("test", "lint")
    assert past.history.owes_evidence


def test_an_understood_check_sends_a_candidate_back_like_a_declared_one():
    past = begun("run the tests")
    past.add(understanding(past.history, "run the tests"))
    past.verified("done", "r1").move()

    assert past.state is State.PROVIDER_TURN
    assert past.history.require_tool == "bash"


@pytest.mark.parametrize(
    ("started", "why"),
    [
        ({"revisions": False}, "no workspace"),
        ({"tool_names": ("read_file",)}, "no bash tool"),
    ],
)
def test_what_cannot_be_met_is_recorded_and_not_owed(started, why):
    past = begun("run the tests", **started)
    record = understanding(past.history, "run the tests")
    past.add(record)

    assert record.kinds == ("test",)
    assert why in record.not_owed
    assert past.history.owed == ()
    assert past.submitted().move().state is State.VERIFY


def test_what_is_asked_for_while_planning_is_owed_when_the_plan_is_carried_out():
    past = begun("run the tests", permission=Permission.PLAN)
    past.add(understanding(past.history, "run the tests"))

    assert past.history.owed == ("test",)


def test_a_later_input_adds_and_takes_back_but_never_what_was_declared():
    past = begun("run the tests and the linter", contract=Contract(checks=("lint",)))
    past.add(understanding(past.history, "run the tests and the linter"))
    later = "don't run the tests or the linter, but run mypy"
    past.add(UserInput(later), understanding(past.history, later))

    assert past.history.owed == ("lint", "type-check")


def test_a_new_run_owes_only_what_it_is_asked_for():
    past = begun("run the tests")
    past.add(Understood(("test",), ("run the tests",)))
    past.history.state = State.SUCCEEDED
    past.add(RunStarted(2, "g", "t", "m"), UserInput("go on"))

    assert past.history.owed == ()


def test_an_input_that_says_nothing_of_checks_leaves_no_record():
    past = begun("fix the bug")

    assert understanding(past.history, "fix the bug") is None
    assert gates_at(GRAPH, State.VERIFY)
