"""The list of packages, which pyproject.toml cannot compute: every folder with an `__init__.py`, below `loomir`."""

from setuptools import find_packages, setup

setup(packages=["loomir", *(f"loomir.{name}" for name in find_packages())])
