"""How many examples the laws are tried on: `ci` is the same for everybody, `deep` looks further."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, max_examples=250, print_blob=False, **_COMMON)
settings.register_profile("quick", derandomize=True, max_examples=25, print_blob=False, **_COMMON)
settings.register_profile("deep", max_examples=20_000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
