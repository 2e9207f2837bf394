"""What all tests share: properties draw the same examples on every run, unless asked otherwise."""

from __future__ import annotations

import os

from hypothesis import settings

# One profile for every run, so that a failure is a change and not luck; HYPOTHESIS_PROFILE=search
# draws anew each time.
settings.register_profile("steady", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
