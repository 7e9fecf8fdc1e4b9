"""A place for tests that open a file hundreds of times; and a mark on what they write, which no run would."""

import shutil
import tempfile
from pathlib import Path

import pytest

from fsm.checks.journals import FORGED


@pytest.fixture
def fast_home(tmp_path):
    """A directory in memory where there is one: its syncs cost nothing, and they are counted, not trusted."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    home = Path(tempfile.mkdtemp(dir=memory))
    yield home
    shutil.rmtree(home)


@pytest.fixture(autouse=True)
def _left_out_of_the_replay(request):
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if folder is not None:
        (folder / FORGED).touch()
