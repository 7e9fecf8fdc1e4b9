"""Profiles of Hypothesis: HYPOTHESIS_PROFILE=quick, ci (default) or nightly. All are deterministic but the last."""

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much]}

settings.register_profile("quick", max_examples=40, stateful_step_count=20, derandomize=True, database=None, **_COMMON)
settings.register_profile("ci", max_examples=150, stateful_step_count=30, derandomize=True, database=None, **_COMMON)
settings.register_profile("nightly", max_examples=5000, stateful_step_count=50, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
