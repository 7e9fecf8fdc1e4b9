"""The page in a real browser, where there is one: nothing runs, and it fits a phone."""

import html
import os
import re
import shutil
import subprocess

import pytest
from report.test_page import HOSTILE, hostile

from fsm.graph import GRAPH
from fsm.report import page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (apt-get install chromium)")


def dumped(path, *words):
    """The document after it was loaded, as text."""
    options = ["--headless=new", "--disable-gpu", f"--user-data-dir={path.parent / 'profile'}", *words]
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [BROWSER, *options, "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def title(document):
    return html.unescape(re.search(r"<title>(.*?)</title>", document, re.DOTALL)[1])


def test_nothing_of_a_hostile_session_runs_and_the_policy_stops_even_what_got_through(tmp_path):
    text = page(GRAPH, hostile(), "s")
    planted = tmp_path / "planted.html"
    planted.write_text(text.replace("</main>", f"{HOSTILE['a script']}{HOSTILE['a handler']}</main>"))
    unguarded = tmp_path / "unguarded.html"
    unguarded.write_text(re.sub("<meta http-equiv[^>]*>", "", planted.read_text()))

    assert title(dumped(planted)).endswith("session s – Interlock")
    assert title(dumped(unguarded)) == "owned", "the test itself would see a script that runs"


def test_the_page_is_no_wider_than_a_phone(tmp_path):
    (tmp_path / "page.html").write_text(page(GRAPH, hostile(), "s"))
    frame = tmp_path / "frame.html"
    frame.write_text(
        '<title>waiting</title><iframe src="page.html" width="360" height="640" onload="document.title ='
        ' this.contentDocument.documentElement.scrollWidth"></iframe>'
    )

    assert int(title(dumped(frame, "--allow-file-access-from-files"))) <= 360
