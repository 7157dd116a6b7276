"""A real Slurm of one node, on loopback, for tests of sweeps on a cluster."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.programs import SLURM, find

CORES = 2
_CONFIGURATION = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class DidNotStartError(Exception):
    """The daemons of Slurm do not work on this machine."""


def missing() -> str:
    """Return why Slurm cannot start here, or nothing if it can."""
    if SLURM.absence or os.geteuid() != 0:
        return SLURM.absence or "the daemons of Slurm need root: run the tests as root"
    return "" if len(os.sched_getaffinity(0)) >= CORES else f"Slurm needs {CORES} cores"


@contextmanager
def running(folder: Path) -> Iterator[dict[str, str]]:
    """Run Slurm in a folder; yield the environment variables with which its commands find it."""
    for name in ("state", "spool"):
        (folder / name).mkdir()
    configuration = _configure(folder)
    daemons = [
        _munge(folder),
        subprocess.Popen([str(find("slurmctld")), "-D", "-f", str(configuration)]),
        subprocess.Popen([str(find("slurmd")), "-D", "-f", str(configuration)]),
    ]
    environment = dict(os.environ) | {"SLURM_CONF": str(configuration)}
    try:
        _wait_until_idle(environment)
        yield environment
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()


def _configure(folder: Path) -> Path:
    """Write the configuration of Slurm into its folder."""
    configuration = folder / "slurm.conf"
    text = _CONFIGURATION.format(
        host=socket.gethostname().partition(".")[0],
        control_port=_free_port(),
        node_port=_free_port(),
        folder=folder,
        cores=CORES,
    )
    configuration.write_text(text)
    return configuration


def _munge(folder: Path) -> subprocess.Popen[bytes]:
    """Start the daemon that signs the messages between the others."""
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    files = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    force = "--force"  # the folder of a test may be written by others
    options = ["--foreground", force, f"--socket={folder}/munge.socket", *files]
    return subprocess.Popen([str(find("munged")), *options], stderr=subprocess.DEVNULL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_idle(environment: dict[str, str], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = subprocess.run(
            ["sinfo", "--noheader", "--format=%T"], env=environment, capture_output=True, text=True
        )
        if answer.stdout.strip() == "idle":
            return
        time.sleep(0.2)
    raise DidNotStartError(f"Slurm did not start: sinfo said {answer.stdout or answer.stderr!r}")
