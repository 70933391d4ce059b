"""The list of packages, which pyproject.toml cannot compute: every folder with an `__init__.py`, below `loomir`."""

from setuptools import find_packages, setup

# setuptools leaves the script out of the package, which is the same folder, if it knows the name of the script.
setup(packages=["loomir", *(f"loomir.{name}" for name in find_packages())], script_name="setup.py")
