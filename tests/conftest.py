"""What every test may rely on."""

from __future__ import annotations

import signal

# Who runs the tests in the background has the shell ignore interrupts, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
