"""What pyproject.toml cannot say: the list of packages, and how the engine's core is built.

The packages are every folder with an `__init__.py`, below `loomir`.
"""

import os
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "runtime", "core"))
import compile_core


class BuildWithCore(build_py):
    """Copies the packages, and builds the core: beside its sources if the installation is editable."""

    def run(self) -> None:
        super().run()
        folder = compile_core.FOLDER if self.editable_mode else Path(self.build_lib, "loomir", "runtime", "core")
        library = folder / compile_core.LIBRARY
        try:
            if not compile_core.is_wanted():
                # setuptools packs what an earlier build has left in its folder.
                library.unlink(missing_ok=True)
            elif not self.editable_mode or not compile_core.is_current(library):
                compile_core.build(folder)
        except compile_core.CompileError as error:
            raise SystemExit(f"error: {error}") from None


class WheelWithCore(bdist_wheel):
    """Names the wheel after the platform of the core, and after no version of Python: it has no extension module."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = not compile_core.is_wanted()

    def get_tag(self) -> tuple[str, str, str]:
        tag = super().get_tag()
        return tag if self.root_is_pure else ("py3", "none", tag[2])


# setuptools leaves the script out of the package, which is the same folder, if it knows the name of the script.
setup(
    packages=["loomir", *(f"loomir.{name}" for name in find_packages())],
    script_name="setup.py",
    cmdclass={"build_py": BuildWithCore, "bdist_wheel": WheelWithCore},
)
