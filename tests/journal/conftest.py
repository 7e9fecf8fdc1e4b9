"""A place for tests that open a file hundreds of times."""

import shutil
import tempfile
from pathlib import Path

import pytest


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
