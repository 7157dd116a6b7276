"""Ask a trained designer for a mechanism, or compare it with baselines: see ``--help``."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from daedalus.config import ConfigError, compose_config

EPISODES = 30
DESCRIPTION = """Without --n-episodes or --baseline, print the mechanism that a trained designer
sets in an episode that has just begun, as JSON. With either, have it play whole episodes, show what
they earned, and write it to a file."""
MODEL = "a `model` folder or a hub name OWNER/NAME; unless given, the newest below outputs/"
CONSTRAINED = "mask whatever no mechanism goes on with, as models not trained here need"
RESULTS = Path("inference_results.json")


def main() -> None:
    """Do what the command line asks, or say in one message why not."""
    options = parser().parse_args()
    try:
        run(options)
    except ConfigError as error:
        sys.exit(str(error))


def run(options: Namespace) -> None:
    """Print a mechanism, or play episodes and write what they earned.

    Raises:
        ConfigError: No model, or something else that cannot be run; the message says what to do.
    """
    from daedalus.run_folder import newest_model
    from experiments.build import OUTPUTS  # slow to import, and --help needs none
    from experiments.inference import design, evaluate

    newest = newest_model(OUTPUTS)
    options.repo_id = options.repo_id or (str(newest) if newest else None)
    if options.repo_id is None:
        raise ConfigError(
            f"no designer has been trained under {OUTPUTS}/; train one with `make demo`, or name "
            "one with --repo-id"
        )
    config = compose_config(*overrides(options))
    if options.n_episodes is None and not options.baseline:
        print(json.dumps(design(config).to_dict(), indent=2))
    else:
        asked = {name: value for name, value in vars(options).items() if name != "output"}
        asked["n_episodes"] = config.evaluation.episodes
        evaluate(config, options.baseline, asked, options.output)


def parser() -> ArgumentParser:
    """Return the parser of the command line; its first flags are those of the published script."""
    line = ArgumentParser(description=DESCRIPTION)
    add = line.add_argument
    add("--repo-id", metavar="MODEL", help=MODEL)
    add("--n-episodes", type=int, metavar="N", help=f"episodes, {EPISODES} unless given")
    add("--baseline", action="store_true", help="random and informed greedy play the same markets")
    add("--population", default="stage3", help="who bids, of conf/population/ (%(default)s)")
    add("--market", default="strategic", help="whose rules, of conf/market/ (%(default)s)")
    add("--seed", type=int, default=0, help="same seed, same numbers (%(default)s)")
    add("--constrained", action="store_true", help=CONSTRAINED)
    add("--output", type=Path, default=RESULTS, metavar="FILE", help="results (%(default)s)")
    add("overrides", nargs="*", metavar="KEY=VALUE", help="of the configuration, as for run.py")
    return line


def overrides(options: Namespace) -> list[str]:
    """Return what the options change in the configuration."""
    episodes = EPISODES if options.n_episodes is None else options.n_episodes
    path = options.repo_id.replace("'", r"\'")
    return [
        "task=compare",
        "designer=language_model",
        f"designer.checkpoint='{path}'",
        f"designer.constrained={str(options.constrained).lower()}",
        f"population={options.population}",
        f"market={options.market}",
        f"seed={options.seed}",
        f"evaluation.episodes={episodes}",
        *options.overrides,
    ]


if __name__ == "__main__":
    main()
