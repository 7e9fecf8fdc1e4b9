"""interlock report: a page from a journal, wherever it is to go."""

from support.html import Page


def test_a_session_becomes_one_page(session, workspace):
    written = session("report", "s", "-o", "run.html")
    printed = session("report", "s")

    assert (written.returncode, written.stdout, written.stderr) == (0, "", "")
    page = (workspace / "run.html").read_text()
    assert page == printed.stdout
    assert list(Page(page).dangers()) == []
    shown = Page(page).text
    assert "What does \\x1b[2J it do?" in shown
    assert "It subtracts." in shown
    assert "read_file (call_1_0)" in shown
    assert "The audit has nothing to object to." in shown


def test_what_cannot_be_written_or_found_is_named(session):
    nowhere, unknown = session("report", "s", "-o", "no/such/run.html"), session("report", "x")

    assert (nowhere.returncode, unknown.returncode) == (2, 2)
    assert "--output: 'no/such/run.html' cannot be written" in nowhere.stderr
    assert "there is no session 'x'" in unknown.stderr


def test_without_the_extra_the_way_to_it_is_named(session, workspace):
    (workspace / "jinja2.py").write_text("raise ImportError('not installed')")
    done = session("report", "s", env={"PYTHONPATH": f"{workspace}:{session.env['PYTHONPATH']}"})

    assert done.returncode == 2
    assert "pip install 'interlock[report]'" in done.stderr
