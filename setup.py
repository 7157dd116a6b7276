"""Names the packages of the wheel: conf/ is one of them, though it stands beside daedalus/ here."""

from setuptools import find_packages, setup

setup(packages=[*find_packages(include=["daedalus*", "experiments*"]), "daedalus.conf"])
