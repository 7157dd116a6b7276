"""Ask a trained designer for a mechanism, or compare it with baselines: see ``--help``."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  # so this file keeps to the syntax of old Pythons
    sys.exit(
        "This Python is too old: Daedalus needs 3.11, 3.12 or 3.13. Run `source "
        ".venv/bin/activate` first; if there is no .venv, `make setup` makes it."
    )
try:
    import json
    from argparse import ArgumentParser, BooleanOptionalAction, Namespace
    from pathlib import Path

    from daedalus.launch.start import starting
    from daedalus.runs import pretrained
    from daedalus.runs.endings import command, release, unrecorded, wants_traceback
    from daedalus.runs.importing import slow_imports
    from daedalus.runs.waiting import breaking_silence, heard
except KeyboardInterrupt:
    sys.stderr.write("Stopped; nothing was written.\n")
    sys.exit(130)

EPISODES = 30
DESCRIPTION = """Ask a trained designer. Without --n-episodes and --baseline, it prints as JSON the
mechanism that the designer sets at the start of an episode. With one of them, the designer plays
whole episodes; the rewards are shown and written to a file."""
MODEL = (
    "a `model` folder, a hub name OWNER/NAME, or `pretrained`, the model of the package (default: "
    "the newest good one in outputs/ for the reward; if there is none, pretrained)"
)
CONSTRAINED = "decode valid mechanisms only (default: as in training)"
RESULTS = Path("outputs") / "inference_results.json"


def main() -> None:
    """Do what the command line asks; an error gives one message."""
    options = parser().parse_args()
    with starting(_interruption), breaking_silence("Loading the libraries ..."):
        try:
            run(options)
        except Exception as error:
            release(error)
            if wants_traceback([]):
                raise
            sys.exit(unrecorded(error))


def _interruption(stop: KeyboardInterrupt) -> str:
    return f"Stopped; nothing was written. To start anew: {command()}\n"


def run(options: Namespace) -> None:
    """Print a mechanism, or play episodes and write their rewards.

    Raises:
        ConfigError: The options cannot be run. The message says what to do.
    """
    with slow_imports():
        from daedalus.launch.config.compose import compose_config
        from daedalus.launch.config.preflight import preflight

        config = compose_config(*overrides(options, options.repo_id or pretrained.WORD))
        preflight(config)
        from daedalus.doors.inference import chosen, design, evaluate, told

    if not options.repo_id:
        options.repo_id = chosen(config)
        config = compose_config(*overrides(options, options.repo_id))
    notes = told(config, overrides(options, options.repo_id))
    heard()
    print(f"designer: {pretrained.described(options.repo_id)}{notes}", file=sys.stderr)
    if options.n_episodes is None and not options.baseline:
        print(json.dumps(design(config).to_dict(), indent=2))
    else:
        asked = {name: value for name, value in vars(options).items() if name != "output"}
        asked["n_episodes"] = config.evaluation.episodes
        evaluate(config, options.baseline, asked, options.output)


def parser() -> ArgumentParser:
    """Return the parser of the command line. Its first three flags are the published script's."""
    line = ArgumentParser(description=DESCRIPTION)
    add = line.add_argument
    add("--repo-id", metavar="MODEL", help=MODEL)
    add("--n-episodes", type=int, metavar="N", help=f"episodes to play (default: {EPISODES})")
    add("--baseline", action="store_true", help="play random and informed greedy as well")
    add("--population", default="stage3", help="bidders, as in population=NAME (default: stage3)")
    add("--market", default="strategic", help="option of conf/market/ (default: strategic)")
    add("--seed", type=int, default=0, help="the same seed gives the same numbers (default: 0)")
    add("--constrained", action=BooleanOptionalAction, help=CONSTRAINED)
    add(
        "--output",
        type=Path,
        default=RESULTS,
        metavar="FILE",
        help="results (default: %(default)s)",
    )
    add("overrides", nargs="*", metavar="KEY=VALUE", help="other settings, as for run.py")
    return line


def overrides(options: Namespace, model: str) -> list[str]:
    """Return the options as overrides of the configuration, for a model."""
    from daedalus.launch.config.compose import quoted

    episodes = EPISODES if options.n_episodes is None else options.n_episodes
    return [
        "task=compare",
        "designer=language_model",
        f"designer.checkpoint={quoted(model)}",
        f"designer.constrained={json.dumps(options.constrained)}",
        f"population={options.population}",
        f"market={options.market}",
        f"seed={options.seed}",
        f"evaluation.episodes={episodes}",
        *options.overrides,
    ]


if __name__ == "__main__":
    main()
