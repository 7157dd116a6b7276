"""Names the packages of the wheel: conf/ is one of them, though it stands beside daedalus/ here."""

from setuptools import find_namespace_packages, setup

code = find_namespace_packages(include=["daedalus*", "experiments*"], exclude=["*.__pycache__"])
groups = [f"daedalus.conf.{group}" for group in find_namespace_packages("conf")]
setup(packages=[*code, "daedalus.conf", *groups])
