import pytest
from tools.bench import Bench


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)
