"""Profiles of Hypothesis: HYPOTHESIS_PROFILE=quick, ci (default) or nightly. All are deterministic but the last."""

import os

import pytest
from hypothesis import HealthCheck, settings

from fsm.checks.journals import FORGED

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much]}

settings.register_profile("quick", max_examples=40, stateful_step_count=20, derandomize=True, database=None, **_COMMON)
settings.register_profile("ci", max_examples=150, stateful_step_count=30, derandomize=True, database=None, **_COMMON)
settings.register_profile("nightly", max_examples=5000, stateful_step_count=50, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def _left_out_of_the_replay(request):
    """Every journal that the tests leave is replayed (`.ci/run`), but those of tests that damage or invent one."""
    if request.node.get_closest_marker("forged") is None or "tmp_path" not in request.fixturenames:
        yield
        return
    folder = request.getfixturevalue("tmp_path")
    yield
    (folder / FORGED).touch()
