"""Run an experiment: ``python run.py +experiment=grpo_stage3``; see ``--help``."""

from daedalus.command_line import cli

if __name__ == "__main__":
    cli()
