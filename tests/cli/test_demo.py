"""interlock demo: nothing but what is in the package, and all of it real but the model."""

import json
import shutil
import subprocess
import sys

import orjson
from cli.record_demo import record

from fsm.demo import CASSETTE


def test_the_demonstration_plays_from_the_task_to_the_receipt(interlock, workspace):
    place = workspace.parent / "demo"
    done = interlock("demo", "--into", str(place))

    assert done.returncode == 0, done.stderr
    assert "recorded and played back: no key, no network" in done.stderr
    assert "checks_passed: not shown" in done.stderr
    assert "`python3 -m unittest -q` (test) ended with exit status 0" in done.stdout
    assert "nothing to object to" in done.stdout
    assert f"interlock show demo --workspace {place}" in done.stdout
    assert json.loads(interlock("show", "demo", "--workspace", str(place), "--json").stdout)["turns"] == 6
    tests = subprocess.run([sys.executable, "-m", "unittest", "-q"], cwd=place, capture_output=True, check=False)
    assert tests.returncode == 0
    if shutil.which("git"):
        shown = subprocess.run(["git", "diff", "--stat"], cwd=place, capture_output=True, text=True, check=True).stdout
        assert "till/discount.py" in shown
        assert "1 file changed" in shown


def test_the_demonstration_survives_a_kill(interlock, workspace):
    place = workspace.parent / "demo"
    done = interlock("demo", "--crash", "--into", str(place))

    assert done.returncode == 0, done.stderr
    assert "signal 9, SIGKILL" in done.stderr
    shown = json.loads(interlock("show", "demo", "--workspace", str(place), "--json").stdout)
    assert {entry["fence"] for entry in shown["entries"]} == {1, 2}
    assert shown["turns"] == 6


def test_a_folder_that_is_in_use_is_left_alone(interlock, workspace):
    before = sorted(workspace.iterdir())
    done = interlock("demo", "--into", ".")

    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert sorted(workspace.iterdir()) == before


def test_the_cassette_is_what_its_script_records(tmp_path):
    """But for the digests of what the tools said, which hold the seconds that a test took."""
    record(tmp_path / "new.ndjson")

    def turns(path):
        return [orjson.loads(line) | {"request": ""} for line in path.read_bytes().splitlines()]

    assert turns(tmp_path / "new.ndjson") == turns(CASSETTE)
