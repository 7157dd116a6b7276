"""What every process that a test starts does first, see ``tests/conftest.py``."""

import gc

from kept_packages import keep_packages
from unused import leave_out

gc.set_threshold(100_000)  # PyTorch and its kin make a million objects, and all of them stay
leave_out()
keep_packages()
