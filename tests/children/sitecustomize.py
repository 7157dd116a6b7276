"""What every process that a test starts does first, see ``tests/conftest.py``."""

import gc
import sys

from kept_packages import keep_packages

gc.set_threshold(100_000)  # PyTorch and its kin make a million objects, and all of them stay
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
keep_packages()
