"""Run an experiment: ``python run.py +experiment=grpo_stage3``; see ``--help``."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  # so this file keeps to the syntax of old Pythons
    sys.exit(
        "This Python is too old: Daedalus needs 3.11, 3.12 or 3.13. Run `source "
        ".venv/bin/activate` first; if there is no .venv, `make setup` makes it."
    )
try:
    from daedalus.launch.start import cli
except KeyboardInterrupt:
    sys.stderr.write("Stopped before the run began.\n")
    sys.exit(130)

if __name__ == "__main__":
    cli()
